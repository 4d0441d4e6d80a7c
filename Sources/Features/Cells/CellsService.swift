package import EventSourcing
package import JSON

/// Named JSON values for scripts; any program can set a cell, and any other can watch it.
///
/// Each cell is a stream and a source `cells/NAME`. A name has 1 to 8 segments of
/// `[A-Za-z0-9_.:-]`. With the prefix `cells/`, it has at most 200 bytes.
package final class CellsService {
  package let ledger: Ledger<Cells>

  package init(in host: ServiceHost) {
    ledger = Ledger("cells", in: host)
  }

  /// Sets a cell and creates it if necessary.
  ///
  /// - Returns: The value.
  package func set(_ name: String, to value: JSONText) throws(CellsError) -> JSONText {
    try set(.named("cells/\(name)"), to: value)
  }

  /// A cell to set.
  package enum Cell {
    /// One that was set before.
    case known(Stream)
    /// Any one, by its full name, for example `"cells/lamp"`.
    case named(String)

    /// The full name.
    package var source: String {
      switch self {
      case .known(let stream): stream.name
      case .named(let source): source
      }
    }
  }

  /// Sets a cell and creates it if necessary.
  ///
  /// - Returns: The value.
  package func set(_ cell: Cell, to value: JSONText) throws(CellsError) -> JSONText {
    try check(cell)
    if let fault = ValueFault(value) { throw .badValue(fault) }
    record(value, in: cell)
    return value
  }

  private func check(_ cell: Cell) throws(CellsError) {
    guard case .named(let source) = cell, !Self.isCell(source) else { return }
    throw .badName(rule: SourceName.fault(in: Self.name(source), of: "cells") ?? "")
  }

  private func record(_ value: JSONText, in cell: Cell) {
    switch cell {
    case .known(let stream): ledger.record(.set(value), in: stream.number)
    case .named(let source): ledger.record(.set(value), in: source)
    }
  }

  /// Returns the name of a cell by its full name.
  private static func name(_ source: String) -> String { String(source.dropFirst("cells/".count)) }

  /// Removes a cell.
  ///
  /// - Returns: Whether the cell existed. If not, nothing is recorded.
  package func remove(_ name: String) throws(CellsError) -> Bool {
    let cell = try source(of: name)
    guard ledger.pendingValue(of: cell) != nil else { return false }
    ledger.record(.removed, in: cell)
    return true
  }

  /// Adds to a number; a missing cell counts as 0.
  ///
  /// - Returns: The exact sum, with up to 64 digits.
  package func add(_ number: JSONNumber, to name: String) throws(CellsError) -> JSONNumber {
    try add(number, to: .named("cells/\(name)"))
  }

  /// Adds to a number; a missing cell counts as 0.
  ///
  /// - Returns: The exact sum, with up to 64 digits.
  package func add(_ number: JSONNumber, to cell: Cell) throws(CellsError) -> JSONNumber {
    try check(cell)
    let source = cell.source
    let present = ledger.pendingValue(of: source) ?? JSONText(0)
    guard let present = present.number else { throw .notANumber(name: Self.name(source)) }
    guard let sum = present.adding(number) else { throw .outOfRange(name: Self.name(source)) }
    record(JSONText(trusted: sum.text), in: cell)
    return sum
  }

  /// Inverts a boolean; a missing cell counts as `false`.
  ///
  /// - Returns: The new value.
  package func toggle(_ name: String) throws(CellsError) -> Bool {
    let cell = try source(of: name)
    let present = ledger.pendingValue(of: cell) ?? JSONText(false)
    guard let present = present.bool else { throw .notABoolean(name: name) }
    ledger.record(.set(JSONText(!present)), in: cell)
    return !present
  }

  /// Sets a cell if it has the expected value.
  ///
  /// - Parameter expected: Compared by value: `1` equals `1.0`, and the order of members does not
  ///   matter. `nil` expects that the cell does not exist.
  /// - Returns: The new value.
  /// - Throws: ``CellsError/differs(name:)`` if the cell has another value.
  package func compareAndSet(
    _ name: String, expected: JSONText?, to value: JSONText
  ) throws(CellsError) -> JSONText {
    let present = ledger.pendingValue(of: try source(of: name))
    let isAsExpected =
      switch (present, expected) {
      case (nil, nil): true
      case (let present?, let expected?): present.isEquivalent(to: expected)
      default: false
      }
    guard isAsExpected else { throw .differs(name: name) }
    return try set(name, to: value)
  }

  /// Returns the durable cells whose names begin with a prefix, by name without `cells/`.
  ///
  /// - Parameters:
  ///   - maxBytes: A limit on the total size of names and values. The list ends with the first
  ///     cell that exceeds it.
  ///   - isWanted: Decides by the full name whether to include a cell.
  package func list(
    prefix: String, maxBytes: Int = .max, where isWanted: (String) -> Bool = { _ in true }
  ) -> [String: JSONText] {
    var cells: [String: JSONText] = [:]
    var bytes = 0
    ledger.search(withPrefix: "cells/\(prefix)") { source in
      guard isWanted(source), let value = ledger.value(of: source) else { return true }
      cells[String(source.dropFirst("cells/".count))] = value
      bytes += source.utf8.count + value.text.utf8.count
      return bytes <= maxBytes
    }
    return cells
  }

  /// Returns whether a source name is a valid cell name, whether or not the cell exists.
  package static func isCell(_ source: String) -> Bool { SourceName.isSource(source, of: "cells") }

  /// Returns the full name of a cell.
  package func source(of name: String) throws(CellsError) -> String {
    if let fault = SourceName.fault(in: name, of: "cells") { throw .badName(rule: fault) }
    return "cells/\(name)"
  }
}
