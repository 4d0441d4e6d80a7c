package import Facts
package import JSON
package import Wire

/// The state of a user who looks at views in a terminal: the front view, the chosen row, the input.
///
/// It maps keys to actions, but has no side effects.
package struct ViewSession {
  /// An action for the caller to perform.
  package enum Action: Equatable {
    case ask(Handle, intent: String, JSONObject)
    case close(Handle)
    /// Sends `sync`, which is answered when all pending messages have arrived.
    case sync
    case quit
  }

  package internal(set) var stack = ViewStack()

  /// The form that the user is filling in; `nil` for none.
  package internal(set) var form: IntentForm?

  /// The pane shown instead of the front view; `nil` for none.
  package internal(set) var pane: ViewPane?

  /// The question before a destructive intent; `nil` for none.
  package internal(set) var question: Question?

  /// The notice about interrupted input.
  ///
  /// The user must dismiss it before other keys work.
  package internal(set) var notice: String?

  /// The reason why the last view has closed; `nil` while a view is open.
  package private(set) var ending: String?

  /// The last result or error.
  package var message = ""

  /// Whether the daemon is disconnected.
  package internal(set) var isAway = false

  /// Whether a new line is started after one was sent.
  var isComposing = false

  /// Whether the form was opened automatically after a line was sent.
  var isNextLine = false

  /// The form about to be sent, and the sent forms by request; refused ones are shown again.
  var unsent: SentForm?
  var sent: [Int: SentForm] = [:]

  /// Refused forms that wait because another form is open.
  var returned: [SentForm] = []

  /// The last action of a live intent, per view.
  var typed: [Handle: Action] = [:]

  /// The chosen row of each view.
  ///
  /// In a log without an entry, it is the last row.
  var rows: [Handle: Int] = [:]

  /// The views whose initially chosen element has not arrived yet.
  var unchosen: Set<Handle> = []

  /// The record of how the views were opened.
  var trail = ViewTrail()

  /// The steps to reopen the views after a reconnection; `nil` if none are pending.
  var returning: ViewReturn?

  package init() {}

  // MARK: Messages from the daemon

  /// Handles a notification.
  ///
  /// - Throws: ``CollectionChange/Fault`` for a list step that does not fit.
  package mutating func take(
    _ method: String, _ params: JSONObject
  ) throws(CollectionChange.Fault) {
    guard returning == nil else {
      try returning?.take(method, params)
      return
    }
    trail.take(method, params, stack)
    let (front, id, view) = (stack.front, chosen?.id, stack.frontView)
    try stack.take(method, params)
    if stack.front != front {
      pane = nil
      let end = view.map { $0.end(method, params) } ?? ""
      // A sent line may open another view; then no input was interrupted.
      let isExpected =
        isNextLine && (method == "opened" || params["reason"] == .string("replaced"))
      if question != nil || form?.isTouched == true || !isExpected { interrupt(end) }
      (form, question, returned) = (nil, nil, [])
      if stack.isEmpty { ending = end }
    }
    rows = rows.filter { stack[$0.key] != nil }
    typed = typed.filter { stack[$0.key] != nil }
    unchosen.formIntersection(stack.views.map(\.handle))
    if let front, front == stack.front { follow(id, in: front) }
    if method == "opened", let handle = params["view"].flatMap(Handle.init) {
      unchosen.insert(handle)
    }
    showChosen()
    guard method == "fail", case .object(let error)? = params["error"] else { return }
    if case .string(let text)? = error["message"] { message = text }
  }

  /// Keeps the same element chosen at its new place; if it is gone, the same row.
  private mutating func follow(_ id: JSONValue?, in view: Handle) {
    guard let id, rows[view] != nil, chosen?.id != id else { return }
    rows[view] = list?.elements.firstIndex { $0.id == id } ?? rows[view]
  }

  /// Handles the loss of the daemon.
  ///
  /// The last views stay visible until it returns.
  package mutating func lose(_ message: String) {
    (isAway, returning) = (true, nil)
    self.message =
      message + (sent.isEmpty ? "" : "; the last request may not have arrived")
  }

  /// Chooses the elements that views name as initially chosen; long lists arrive in parts.
  mutating func showChosen() {
    for handle in unchosen {
      guard let view = stack[handle], let id = view.properties["chosen"]?.value else {
        unchosen.remove(handle)
        continue
      }
      guard let row = list(of: view)?.elements.firstIndex(where: { $0.id == id }) else { continue }
      rows[handle] = row
      unchosen.remove(handle)
    }
  }

  // MARK: The front view

  /// The list for choosing rows: the longest of the front view; `nil` for none.
  package var list: (name: String, elements: [JSONValue])? { stack.frontView.flatMap(list(of:)) }

  private func list(of view: ViewState) -> (name: String, elements: [JSONValue])? {
    let lists = view.properties.compactMap { name, property in
      property.elements.map { (name: name, elements: $0) }
    }
    return lists.max { ($0.elements.count, $1.name) < ($1.elements.count, $0.name) }
  }

  /// The index of the chosen row; `nil` if there is none.
  package var row: Int? {
    guard let front = stack.front, let list, !list.elements.isEmpty else { return nil }
    return min(rows[front] ?? (isLog ? .max : 0), list.elements.count - 1)
  }

  /// Whether the list is a log, which is shown from its end: its elements have a `time`.
  var isLog: Bool {
    if case .object(let element)? = list?.elements.last { element["time"] != nil } else { false }
  }

  /// The chosen element.
  var chosen: JSONValue? { row.flatMap { list?.elements[$0] } }

  /// Moves the choice by a number of rows.
  mutating func move(by rows: Int) {
    guard let front = stack.front, let row, let count = list?.elements.count else { return }
    unchosen.remove(front)
    let chosen = min(max(0, row + rows), count - 1)
    self.rows[front] = isLog && chosen == count - 1 ? nil : chosen
  }

  /// Brings the next tab to the front.
  mutating func turn() { stack.turn() }

  /// The intents of the front view with their keys.
  ///
  /// The key is the first letter of the name, or another one if that is taken.
  package var keys: [(key: Character, intent: ViewState.Intent)] {
    let intents = stack.frontView?.intents ?? []
    var keys: [Character?] = []
    for intent in intents {
      let first = intent.name.lowercased().first
      keys.append(first == "q" || keys.contains(first) ? nil : first)
    }
    for i in intents.indices where keys[i] == nil {
      let wishes = intents[i].name.lowercased() + "abcdefghijklmnoprstuvwxyz123456789"
      keys[i] = wishes.first { $0.isASCII && $0 != "q" && !keys.contains($0) }
    }
    return zip(keys, intents).compactMap { key, intent in key.map { ($0, intent) } }
  }

  /// The properties of the front view besides the list, by name.
  var properties: [(name: String, property: ViewState.Property)] {
    (stack.frontView?.properties ?? [:]).sorted { $0.key < $1.key }.map { ($0, $1) }
      .filter { $0.name != list?.name && $0.name != "chosen" }
  }
}

extension JSONValue {
  /// The `id` of a list element; `nil` if it has none.
  fileprivate var id: JSONValue? {
    if case .object(let element) = self { element["id"] } else { nil }
  }
}
