package import JSON
internal import Wire

/// The chosen list of a view, and the chosen row of each of its lists.
struct RowChoice {
  /// The name of the list; `nil` until the user has chosen a row.
  var list: String?

  /// The chosen rows by list; in a log without an entry, the last row.
  var rows: [String: Int] = [:]

  /// Returns the choice for a view that has come back, whose only list may have another name.
  func renamed(to lists: [String]) -> RowChoice {
    guard lists.count == 1, let list, !lists.contains(list) else { return self }
    return RowChoice(list: lists[0], rows: [lists[0]: rows[list] ?? 0])
  }
}

// The lists of views, and their chosen rows.
extension ViewSession {
  /// The list with the chosen row in the front view; `nil` for none.
  package var list: (name: String, elements: [JSONValue])? { stack.frontView.flatMap(list(of:)) }

  /// Returns the list with the chosen row: the user's choice, otherwise the first with rows.
  func list(of view: ViewState) -> (name: String, elements: [JSONValue])? {
    let (lists, name) = (view.lists, choices[view.handle]?.list)
    return lists.first { $0.name == name } ?? lists.first { !$0.elements.isEmpty } ?? lists.first
  }

  /// The index of the chosen row; `nil` if there is none.
  package var row: Int? { stack.frontView.flatMap { view in list.flatMap { row($0, of: view) } } }

  /// Returns the index of the chosen row of a list; `nil` if it has no rows.
  func row(_ list: (name: String, elements: [JSONValue]), of view: ViewState) -> Int? {
    guard !list.elements.isEmpty else { return nil }
    let chosen = choices[view.handle]?.rows[list.name]
    return min(chosen ?? (list.elements.isLog ? .max : 0), list.elements.count - 1)
  }

  /// The chosen element.
  var chosen: JSONValue? { row.flatMap { list?.elements[$0] } }

  /// Moves the choice by a number of rows; beyond the end of a list the next one follows.
  mutating func move(by rows: Int) {
    guard let view = stack.frontView, let list else { return }
    unchosen.remove(view.handle)
    let row = row
    let target = (row ?? 0) + rows
    let isOutside = row == nil || target < 0 || target >= list.elements.count
    if isOutside, rows.magnitude == 1, let next = list.name.neighbor(in: view.lists, rows) {
      let last = next.elements.count - 1
      return choose(rows > 0 ? 0 : last, in: next, of: view.handle)
    }
    guard row != nil else { return }
    choose(min(max(0, target), list.elements.count - 1), in: list, of: view.handle)
  }

  private mutating func choose(
    _ row: Int, in list: (name: String, elements: [JSONValue]), of view: Handle
  ) {
    let isEnd = list.elements.isLog && row == list.elements.count - 1
    choices[view, default: RowChoice()].list = list.name
    choices[view]?.rows[list.name] = isEnd ? nil : row
  }

  /// Keeps the same element of a list chosen at its new place; if it is gone, the same row.
  mutating func follow(_ id: JSONValue?, in name: String) {
    guard let id, let front = stack.frontView, choices[front.handle]?.rows[name] != nil,
      let list = front.lists.first(where: { $0.name == name }),
      let row = list.elements.firstIndex(where: { $0.id == id })
    else { return }
    choices[front.handle]?.rows[name] = row
  }
}

extension String {
  /// Returns the next list with rows before or after the one of this name.
  fileprivate func neighbor(
    in lists: [(name: String, elements: [JSONValue])], _ step: Int
  ) -> (name: String, elements: [JSONValue])? {
    guard let place = lists.firstIndex(where: { $0.name == self }) else { return nil }
    return step > 0
      ? lists[(place + 1)...].first { !$0.elements.isEmpty }
      : lists[..<place].last { !$0.elements.isEmpty }
  }
}

extension [JSONValue] {
  /// Whether the list is a log, which is shown from its end: its elements have a `time`.
  var isLog: Bool {
    if case .object(let element)? = last { element["time"] != nil } else { false }
  }
}

extension JSONValue {
  /// The `id` of a list element; `nil` if it has none.
  var id: JSONValue? {
    if case .object(let element) = self { element["id"] } else { nil }
  }
}
