package import Facts
package import JSON
package import Wire

/// The open views according to the daemon's frames, and the front view.
package struct ViewStack: Equatable {
  /// The views in the order in which they were opened.
  package private(set) var views: [ViewState] = []

  /// The handle of the front view; `nil` if none is open.
  package private(set) var front: Handle?

  package init() {}

  package var isEmpty: Bool { views.isEmpty }

  package subscript(handle: Handle) -> ViewState? { views.first { $0.handle == handle } }

  package var frontView: ViewState? { front.flatMap { self[$0] } }

  /// The front view and its parents, the root first.
  package var path: [ViewState] {
    var path: [ViewState] = []
    var next = frontView
    while let view = next {
      path.insert(view, at: 0)
      next = view.parent.flatMap { self[$0] }
    }
    return path
  }

  /// The tabs next to the front view, including its own; empty if there are none.
  package var tabs: [ViewState] {
    guard let view = path.last(where: { $0.style == "tab" }) else { return [] }
    return views.filter { $0.style == "tab" && $0.parent == view.parent }
  }

  /// Handles the reply to `open`.
  package mutating func open(_ answer: JSONObject) {
    guard let view = ViewState(answer) else { return }
    views.append(view)
    front = view.handle
  }

  /// Handles a notification; ignores those that do not concern views.
  ///
  /// - Throws: ``CollectionChange/Fault`` for a list step that does not fit.
  package mutating func take(
    _ method: String, _ params: JSONObject
  ) throws(CollectionChange.Fault) {
    guard let handle = params["view"].flatMap(Handle.init) else { return }
    switch method {
    case "opened":
      guard let view = ViewState(params) else { return }
      views.append(view)
      // The first of several tabs stays in front.
      if view.style != "tab" || tabs.isEmpty && front == view.parent { front = handle }
    case "next":
      guard let i = views.firstIndex(where: { $0.handle == handle }),
        case .object(let changes)? = params["props"]
      else { return }
      try views[i].change(changes)
    case "closed", "fail": close(handle)
    default: break
    }
  }

  /// Removes a view and its children.
  package mutating func close(_ handle: Handle) {
    guard let view = self[handle] else { return }
    for child in views where child.parent == handle { close(child.handle) }
    views.removeAll { $0.handle == handle }
    guard front == handle else { return }
    front = view.parent.flatMap { self[$0] }?.handle ?? views.last?.handle
    // A sibling is preferred to the parent.
    if let beside = views.last(where: { $0.parent == view.parent && $0.parent != nil }) {
      front = beside.handle
    }
  }

  /// Brings the next tab to the front.
  package mutating func turn() {
    let tabs = tabs
    guard let i = tabs.firstIndex(where: { tab in path.contains { $0.handle == tab.handle } }),
      tabs.count > 1
    else { return }
    front = deepest(tabs[(i + 1) % tabs.count].handle)
  }

  /// Returns the most recently opened descendant of a view, or the view itself.
  private func deepest(_ handle: Handle) -> Handle {
    views.last { $0.parent == handle }.map { deepest($0.handle) } ?? handle
  }
}
