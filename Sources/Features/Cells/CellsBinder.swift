package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers the cells to clients.
package func bindCells(_ catalog: Catalog, to cells: CellsService) {
  catalog.offer(
    "Named JSON values for scripts: one program sets them, others watch them.",
    cells.ledger)
  catalog.offerSources(
    of: cells.ledger,
    [.init("cells/**", "A named JSON value.", .any, isWritable: true)],
    exists: CellsService.isCell, writes: ["cells.set"],
    write: { source, value throws(CellsError) in try cells.set(.named(source), to: value) },
    remove: { source throws(CellsError) in
      _ = try cells.remove(String(source.dropFirst("cells/".utf8.count)))
    })

  catalog.offerView(
    "cell", of: "cells", "One cell, to view and change.", CellArguments.self,
    reads: { ["cells/" + $0.name] }, within: ["cells/**"]
  ) { view, _, arguments in try bindCell(view, to: cells, arguments) }

  catalog.command(
    "cells.set", "Sets a cell; returns the value.", SetCell.self,
    writes: ["cells.set"], reader: SetCell.read
  ) { _, cell throws(CellsError) in
    try cells.set(cell.cell, to: cell.value)
  }
  catalog.command(
    "cells.remove", "Removes a cell; returns whether there was one.", NamedCell.self,
    writes: ["cells.removed"], reader: NamedCell.read
  ) { _, cell throws(CellsError) in
    try cells.remove(cell.name)
  }
  catalog.command(
    "cells.add", "Adds to a number, exactly; returns the sum.", AddToCell.self,
    writes: ["cells.set"], errors: ["not_a_number", "out_of_range"], reader: AddToCell.read
  ) { _, cell throws(CellsError) in
    try cells.add(cell.by ?? JSONNumber(1), to: cell.cell)
  }
  catalog.command(
    "cells.toggle", "Turns true into false and back; returns the new value.", NamedCell.self,
    writes: ["cells.set"], errors: ["not_a_boolean"], reader: NamedCell.read
  ) { _, cell throws(CellsError) in
    try cells.toggle(cell.name)
  }
  catalog.command(
    "cells.compare_and_set", "Sets a cell if it has the expected value; returns the new one.",
    CompareAndSetCell.self, writes: ["cells.set"], errors: ["value_differs"]
  ) { _, cell throws(CellsError) in
    try cells.compareAndSet(cell.name, expected: cell.expected, to: cell.value)
  }
  catalog.query(
    "cells.list", "The cells whose names begin with a prefix, by name.", ListCells.self,
    .value([String: JSONText].self)
  ) { context, call, list in
    let prefix = list.prefix ?? ""
    try context.answer(call, "cells.list \(prefix)", dropping: "cells/".count) {
      [cells.part(prefix: prefix, where: context.role.mayRead)]
    }
  }
}

extension CellsService {
  /// Returns the cells whose names begin with a prefix, to be collected.
  fileprivate func part(
    prefix: String, where isWanted: @escaping (String) -> Bool
  ) -> ValueCollection.Part {
    let prefix = "cells/\(prefix)"
    return ValueCollection.Part(
      search: { [ledger] place, body throws(NameIndex.TooVain) in
        ledger.search(withPrefix: prefix, from: &place, body)
      },
      canGoOn: { [ledger] in ledger.canSearchGoOn },
      value: { [ledger] in isWanted($0) ? ledger.value(of: $0) : nil },
      changes: ledger.changes(matching: .everything).map(\.source)
        .filter { $0.hasPrefix(prefix) })
  }
}

extension Feature {
  package static func cells(_ cells: CellsService) -> Feature {
    let remover = Remover("cells.remove", cells.ledger) { _ = try cells.remove(String($0)) }
    return Feature(removers: [remover]) { bindCells($0, to: cells) }
  }
}

private protocol CellParameters: SourceParameters {
  var name: String { get }
}

extension CellParameters {
  var source: String { "cells/" + name }
}

private let nameDoc = "The cell: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."

private struct SetCell: DocumentedParameters, SourceParameters {
  let cell: CellsService.Cell
  let value: JSONText

  var source: String { cell.source }

  private enum CodingKeys: CodingKey {
    case name, value
  }

  private init(_ cell: CellsService.Cell, value: JSONText) {
    (self.cell, self.value) = (cell, value)
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    cell = .named("cells/" + (try members.decode(String.self, forKey: .name)))
    value = try members.decode(JSONText.self, forKey: .value)
  }

  static let docs = ["name": nameDoc, "value": "Any JSON, 256 KiB at most."]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> SetCell {
    guard parameters.count == 2, let value = parameters.value("value", at: 1, in: line) else {
      throw NotPlain()
    }
    return SetCell(try .read(parameters, line, context), value: value)
  }
}

extension CellsService.Cell {
  /// Reads the name of a cell that was set before, without making a text of it.
  fileprivate static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> Self {
    guard let name = parameters.plainString("name", at: 0, in: line),
      let stream = context.host.stream(line.extracting(name), prefix: "cells/")
    else { throw NotPlain() }
    return .known(Stream(stream, in: context.host.streamNames, isNamed: false))
  }
}

private struct NamedCell: DocumentedParameters, CellParameters {
  let name: String

  static let docs = ["name": nameDoc]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> NamedCell {
    guard parameters.count == 1, let name = parameters.string("name", at: 0, in: line) else {
      throw NotPlain()
    }
    return NamedCell(name: name)
  }
}

private struct AddToCell: DocumentedParameters, SourceParameters {
  let cell: CellsService.Cell
  let by: JSONNumber?

  var source: String { cell.source }

  private enum CodingKeys: CodingKey {
    case name, by
  }

  private init(_ cell: CellsService.Cell, by: JSONNumber?) {
    (self.cell, self.by) = (cell, by)
  }

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: CodingKeys.self)
    cell = .named("cells/" + (try members.decode(String.self, forKey: .name)))
    by = try members.decodeIfPresent(JSONNumber.self, forKey: .by)
  }

  static let docs = ["name": nameDoc, "by": "The number to add; 1 when left out."]

  static func read(
    _ parameters: RequestParameters, _ line: Span<UInt8>, _ context: CallContext
  ) throws(NotPlain) -> AddToCell {
    if parameters.count == 1 { return AddToCell(try .read(parameters, line, context), by: nil) }
    guard parameters.count == 2, let by = parameters.value("by", at: 1, in: line)?.number else {
      throw NotPlain()
    }
    return AddToCell(try .read(parameters, line, context), by: by)
  }
}

private struct CompareAndSetCell: DocumentedParameters, CellParameters {
  let name: String
  let value: JSONText
  let expected: JSONText?

  static let docs = [
    "name": nameDoc, "expected": "The value the cell must have; left out or null: no cell.",
    "value": "Any JSON, 256 KiB at most.",
  ]
}

private struct ListCells: DocumentedParameters {
  let prefix: String?

  static let docs = ["prefix": "The prefix of the names; left out: all cells."]
}
