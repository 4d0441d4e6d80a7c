package import JSON

/// Named JSON values for scripts: what one program sets, every other one can watch.
///
/// Each cell is a stream and a source `cells/NAME`. A name has 1 to 8 segments of `[A-Za-z0-9_.:-]`,
/// and with `cells/` before it 200 bytes at most.
package final class CellsService {
  package let ledger: Ledger<Cells>

  package init(in host: ServiceHost) {
    ledger = Ledger("cells", in: host)
  }

  /// Sets a cell, new or not.
  ///
  /// - Returns: The value.
  package func set(_ name: String, to value: JSONText) throws(CellsError) -> JSONText {
    let cell = try source(of: name)
    if let fault = ValueFault(value) { throw .badValue(fault) }
    ledger.record(.set(value), in: cell)
    return value
  }

  /// Removes a cell.
  ///
  /// - Returns: Whether there was one; without one nothing is recorded.
  package func unset(_ name: String) throws(CellsError) -> Bool {
    let cell = try source(of: name)
    guard ledger.newest[cell] != nil else { return false }
    ledger.record(.unset, in: cell)
    return true
  }

  /// Adds to a number; a cell that is not there counts as 0.
  ///
  /// - Returns: The sum, exact to the last of up to 64 digits.
  package func add(_ number: JSONNumber, to name: String) throws(CellsError) -> JSONNumber {
    let cell = try source(of: name)
    let present = ledger.newest[cell] ?? JSONText(0)
    guard let present = present.number else { throw .notANumber(name: name) }
    guard let sum = present.adding(number) else { throw .outOfRange(name: name) }
    ledger.record(.set(JSONText(kept: sum.text)), in: cell)
    return sum
  }

  /// Turns `true` into `false` and back; a cell that is not there counts as `false`.
  ///
  /// - Returns: The new value.
  package func toggle(_ name: String) throws(CellsError) -> Bool {
    let cell = try source(of: name)
    let present = ledger.newest[cell] ?? JSONText(false)
    guard let present = present.bool else { throw .notABoolean(name: name) }
    ledger.record(.set(JSONText(!present)), in: cell)
    return !present
  }

  /// Sets a cell if it holds a value.
  ///
  /// - Parameter expected: Compared by value: `1` is `1.0`, and members may stand in any order. `nil`
  ///   expects that there is no cell.
  /// - Returns: The new value.
  package func compareAndSet(
    _ name: String, expected: JSONText?, to value: JSONText
  ) throws(CellsError) -> JSONText {
    let present = ledger.newest[try source(of: name)]
    let isAsExpected =
      switch (present, expected) {
      case (nil, nil): true
      case (let present?, let expected?): present.isEquivalent(to: expected)
      default: false
      }
    guard isAsExpected else { throw .differs(name: name) }
    return try set(name, to: value)
  }

  /// The durable cells whose names begin with a prefix, by name without `cells/`.
  ///
  /// - Parameters:
  ///   - maxBytes: When names and values take more than that, not all are there.
  ///   - isWanted: Whether a cell is to be among them, by the whole name of its source.
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

  /// Whether a source can be a cell, present or not.
  package static func isCell(_ source: String) -> Bool { SourceName.isSource(source, of: "cells") }

  /// The whole name of a cell.
  package func source(of name: String) throws(CellsError) -> String {
    if let fault = SourceName.fault(in: name, of: "cells") { throw .badName(rule: fault) }
    return "cells/\(name)"
  }
}
