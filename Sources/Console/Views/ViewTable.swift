package import JSON
internal import Wire

/// The rows of a list for people.
///
/// Objects are shown in columns named after their members, other values as text.
package struct ViewTable {
  /// The line with the column names; `nil` if there are none.
  package let header: String?

  private let cells: [[String]]
  private let widths: [Int]

  /// The space between two columns.
  private static let gap = 2

  /// The minimum width of a column that is narrowed for others.
  private static let narrowest = 4

  /// - Parameters:
  ///   - elements: The visible elements, which determine the column widths.
  ///   - width: The total width of all columns.
  package init(_ elements: ArraySlice<JSONValue>, width: Int) {
    var names = Self.names(elements).filter { !Self.isNumber($0, elements) }
    guard !names.isEmpty else {
      header = nil
      cells = elements.map { [$0.short] }
      widths = [max(1, width)]
      return
    }
    var cells = elements.map { element in names.map { element[$0].cell } }
    func wanted(_ column: Int) -> Int {
      max(names[column].columns, cells.map { $0[column].columns }.max() ?? 0)
    }
    // Empty columns take no space from others.
    let used = names.indices.filter { column in cells.contains { !$0[column].isEmpty } }
    // Rows with nothing but an `id` are names, which need no title.
    let isNamesOnly = names == ["id"]
    if !used.isEmpty {
      names = used.map { names[$0].shownName }
      cells = cells.map { row in used.map { row[$0] } }
    }
    widths = Self.fit(names.indices.map(wanted), into: width - Self.gap * (names.count - 1))
    header = isNamesOnly ? nil : Self.line(names, widths)
    self.cells = cells
  }

  /// Returns whether a column is the `id` and holds numbers only, which say nothing to people.
  private static func isNumber(_ name: String, _ elements: ArraySlice<JSONValue>) -> Bool {
    guard name == "id" else { return false }
    return elements.allSatisfy { element in
      guard case .object(let object) = element, object.members.count > 1 else { return false }
      if case .number? = object["id"] { return true }
      return false
    }
  }

  /// Returns the lines of a row.
  ///
  /// - Parameter isWhole: Whether long cells are wrapped instead of cut.
  package func lines(_ row: Int, isWhole: Bool) -> [String] {
    guard isWhole else { return [Self.line(cells[row], widths)] }
    let wrapped = zip(cells[row], widths).map { $0.lines(columns: $1) }
    return (0..<(wrapped.map(\.count).max() ?? 1)).map { i in
      Self.line(wrapped.map { i < $0.count ? $0[i] : "" }, widths)
    }
  }

  /// Returns all member names in order of appearance; empty if an element is not an object.
  private static func names(_ elements: ArraySlice<JSONValue>) -> [String] {
    var names: [String] = []
    for element in elements {
      guard case .object(let object) = element else { return [] }
      for member in object.members where !names.contains(member.name) { names.append(member.name) }
    }
    return names
  }

  /// Narrows the widest columns until all fit, down to the minimum width.
  private static func fit(_ wanted: [Int], into room: Int) -> [Int] {
    guard wanted.reduce(0, +) > room, var cap = wanted.max() else { return wanted }
    while cap > narrowest, wanted.reduce(0, { $0 + min($1, cap) }) > room { cap -= 1 }
    var widths = wanted.map { min($0, cap) }
    var left = room - widths.reduce(0, +)
    for column in wanted.indices.reversed() where left > 0 && wanted[column] > widths[column] {
      let more = min(left, wanted[column] - widths[column])
      widths[column] += more
      left -= more
    }
    return widths
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    zip(cells, widths).map { $0.cut(to: $1).padded(to: $1) }
      .joined(separator: String(repeating: " ", count: gap))
  }
}

extension JSONValue {
  fileprivate subscript(name: String) -> JSONValue? {
    if case .object(let object) = self { object[name] } else { nil }
  }

  /// Returns an object without some of its members; any other value as it is.
  func without(_ names: [String]) -> JSONValue {
    guard !names.isEmpty, case .object(let object) = self else { return self }
    var rest = JSONObject()
    for member in object.members where !names.contains(member.name) {
      rest[member.name] = member.value
    }
    return .object(rest)
  }

  /// Returns the value as people see it in a property.
  func shown(in property: ViewState.Property) -> JSONValue {
    guard !property.members.isEmpty else { return shown(as: property.hint) }
    switch self {
    case .array(let elements): return .array(elements.map { $0.shown(in: property) })
    case .object(let object):
      var shown = JSONObject()
      for member in object.members {
        let hint = property.members[member.name]
        shown[member.name] = hint.map { member.value.shown(as: $0) } ?? member.value
      }
      return .object(shown)
    default: return shown(as: property.hint)
    }
  }

  /// Returns the value with its numbers as a hint says; see ``ViewState/Property/hint``.
  func shown(as hint: String?) -> JSONValue {
    switch self {
    case .bool(let bool) where hint == "yesno": return .string(bool ? "yes" : "no")
    case .string where hint == "secret": return .string("••••")
    case .string(let text) where hint == "time": return .string(text.asLocalTime)
    case .number(let number):
      switch hint {
      case "bytes": return .string(Amount.bytes(number.double))
      case "seconds": return .string(Amount.time(seconds: number.double))
      case "share":
        return .string("\(Amount.number(number.double * 100)) %")
      case "secret": return .string("••••")
      case "time":
        guard let time = number.int64.map(Timestamp.init(microseconds:)) else { return self }
        return .string(time.text.asLocalTime)
      case "date", "clock", "yesno", "before", "after", "quiet", "hidden", nil: return self
      case let unit?: return .string("\(number.text) \(unit)")
      }
    case .array(let elements) where hint != nil:
      return .array(elements.map { $0.shown(as: hint) })
    case .object(let object) where hint != nil:
      var shown = JSONObject()
      for member in object.members {
        let value = member.name == "id" ? member.value : member.value.shown(as: hint)
        shown[member.name.shownName] = value
      }
      return .object(shown)
    default: return self
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

extension JSONValue? {
  fileprivate var cell: String {
    switch self {
    case nil: ""
    case .bool(let bool)?: bool ? "yes" : "no"
    case let value?: value.short
    }
  }
}
