package import Connections
internal import EventSourcing
internal import JSON
internal import Signals

/// Shows one cell and lets the client change it.
package func bindCell(_ view: View, to cells: CellsService, _ cell: CellArguments) throws {
  let name = cell.name
  let source = try cells.source(of: name)
  view.assign("name", name)
  cells.ledger.values(of: source).bind(to: view["value"])
  view.intent("set", SetValue.self).calls { try cells.set(name, to: $0.value) }.main()
  view.intent("toggle").calls { _ in try cells.toggle(name) }
  view.intent("add", AddValue.self).calls { try cells.add($0.by, to: name) }
  view.intent("remove").calls { _ in try cells.remove(name) }.destructive()
}

/// The arguments of the view of a cell.
package struct CellArguments: Decodable {
  let name: String
}

private struct SetValue: Decodable {
  let value: JSONText
}

private struct AddValue: Decodable {
  let by: JSONNumber
}
