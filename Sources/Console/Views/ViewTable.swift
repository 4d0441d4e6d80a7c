package import JSON

/// The rows of a list for people: objects with the same members stand in columns under their names,
/// anything else as it is.
package struct ViewTable {
  /// The names of the columns; `nil` when there are none.
  package let header: String?
  package let rows: [String]

  /// No column but the last is wider.
  private static let widest = 24

  /// - Parameter elements: Those that are shown, all of which the columns have room for.
  package init(_ elements: ArraySlice<JSONValue>) {
    guard case .object(let first)? = elements.first,
      elements.allSatisfy({ $0.names == first.members.map(\.name) })
    else {
      header = nil
      rows = elements.map(\.short)
      return
    }
    let names = first.members.map(\.name)
    let cells = elements.map { element in
      names.map { name in element[name].cell(isLast: name == names.last) }
    }
    let widths = names.indices.map { column in
      max(names[column].count, cells.map { $0[column].count }.max() ?? 0)
    }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
    }
    header = line(names)
    rows = cells.map(line)
  }

  fileprivate static func cut(_ text: String) -> String {
    text.count <= widest ? text : text.prefix(widest - 1) + "…"
  }
}

extension JSONValue {
  fileprivate var names: [String] {
    if case .object(let object) = self { object.members.map(\.name) } else { [] }
  }

  fileprivate subscript(name: String) -> JSONValue {
    if case .object(let object) = self { object[name] ?? .null } else { .null }
  }

  fileprivate func cell(isLast: Bool) -> String {
    switch self {
    case .bool(let bool): bool ? "yes" : "no"
    case .string(""): ""
    default: isLast ? short : ViewTable.cut(short)
    }
  }

  /// The value for people, in one line: an object by its members, a list by its elements.
  var short: String {
    switch self {
    case .object(let object):
      object.members.map { "\($0.name) \($0.value.short)" }.joined(separator: "  ")
    case .array(let elements): elements.map(\.short).joined(separator: ", ")
    case .null: "–"
    default: bare
    }
  }
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
