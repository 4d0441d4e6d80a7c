package import JSON
package import Wire

/// Somebody who looks at views in a terminal: what is in front, which row is chosen, what is typed.
///
/// It decides what a key means and does nothing.
package struct ViewSession {
  /// What is to be done.
  package enum Action: Equatable {
    case ask(Handle, intent: String, JSONObject)
    case close(Handle)
    /// To be answered when everything that is under way has come.
    case sync
    case quit
  }

  package internal(set) var stack = ViewStack()

  /// The arguments that are being typed.
  package internal(set) var form: IntentForm?

  /// What is read instead of the view in front; `nil` while that is shown.
  package internal(set) var pane: ViewPane?

  /// What is asked before something is taken away; `nil` for nothing.
  package internal(set) var question: Question?

  /// What has become of what somebody was typing; no key means anything else until it was read.
  package internal(set) var notice: String?

  /// How the last view has ended; `nil` while there is one.
  package private(set) var ending: String?

  /// What the last answer or fault was.
  package var message = ""

  /// Whether there is no daemon to ask.
  package internal(set) var isAway = false

  /// Whether another line is asked for when one is sent.
  var isComposing = false

  /// Whether the form is the one that has come when a line was sent.
  var isNextLine = false

  /// The form whose intent is about to be sent, and those that were, by their requests: what is
  /// refused comes back.
  var unsent: SentForm?
  var sent: [Int: SentForm] = [:]

  /// What was refused while something else was typed.
  var returned: [SentForm] = []

  /// What was typed last into a live intent of a view.
  var typed: [Handle: Action] = [:]

  /// The chosen row of each view; that of a log, where none is, is the last.
  var rows: [Handle: Int] = [:]

  /// The views whose element to be seen first has not come yet.
  var unchosen: Set<Handle> = []

  /// How the views were opened.
  var trail = ViewTrail()

  /// The way back to what was shown before the daemon was lost; `nil` when it was gone, or none was lost.
  var returning: ViewReturn?

  package init() {}

  // MARK: From the daemon

  /// Takes a notification.
  package mutating func take(_ method: String, _ params: JSONObject) {
    guard returning == nil else {
      returning?.take(method, params)
      return
    }
    trail.take(method, params, stack)
    let (front, id, view) = (stack.front, chosen?.id, stack.frontView)
    stack.take(method, params)
    if stack.front != front {
      pane = nil
      let end = view.map { $0.end(method, params) } ?? ""
      // What one has sent may open another view; then nothing was being typed.
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

  /// Chooses the same element in its new place; where it is gone, what stands there now.
  private mutating func follow(_ id: JSONValue?, in view: Handle) {
    guard let id, rows[view] != nil, chosen?.id != id else { return }
    rows[view] = list?.elements.firstIndex { $0.id == id } ?? rows[view]
  }

  /// The daemon is gone; what it has shown last stays until it is there again.
  package mutating func lose(_ message: String) {
    (isAway, returning) = (true, nil)
    self.message =
      message + (sent.isEmpty ? "" : "; whether what was sent last has arrived is unknown")
  }

  /// Chooses the elements that views say are to be seen first; a long list comes in parts.
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

  // MARK: What is in front

  /// The list in whose rows one chooses: the longest of the view in front; `nil` for none.
  package var list: (name: String, elements: [JSONValue])? { stack.frontView.flatMap(list(of:)) }

  private func list(of view: ViewState) -> (name: String, elements: [JSONValue])? {
    let lists = view.properties.compactMap { name, property in
      property.elements.map { (name: name, elements: $0) }
    }
    return lists.max { ($0.elements.count, $1.name) < ($1.elements.count, $0.name) }
  }

  /// The index of the chosen row; `nil` when there is none to choose.
  package var row: Int? {
    guard let front = stack.front, let list, !list.elements.isEmpty else { return nil }
    return min(rows[front] ?? (isLog ? .max : 0), list.elements.count - 1)
  }

  /// Whether the list is a log, at whose end one looks: its elements have a `time`.
  var isLog: Bool {
    if case .object(let element)? = list?.elements.last { element["time"] != nil } else { false }
  }

  /// The chosen element.
  var chosen: JSONValue? { row.flatMap { list?.elements[$0] } }

  /// Chooses another row.
  mutating func move(by rows: Int) {
    guard let front = stack.front, let row, let count = list?.elements.count else { return }
    unchosen.remove(front)
    let chosen = min(max(0, row + rows), count - 1)
    self.rows[front] = isLog && chosen == count - 1 ? nil : chosen
  }

  /// Brings the next tab to the front.
  mutating func turn() { stack.turn() }

  /// The intents of the view in front, each with the key that asks it: the first letter of its name,
  /// if none before it has that, and else another.
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

  /// The properties of the view in front that are shown beside the list, by name.
  var properties: [(name: String, property: ViewState.Property)] {
    (stack.frontView?.properties ?? [:]).sorted { $0.key < $1.key }.map { ($0, $1) }
      .filter { $0.name != list?.name && $0.name != "chosen" }
  }
}

extension JSONValue {
  /// By which an element of a list is known; `nil` when it has nothing of that kind.
  fileprivate var id: JSONValue? {
    if case .object(let element) = self { element["id"] } else { nil }
  }
}
