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
    case quit
  }

  package private(set) var stack = ViewStack()

  /// The arguments that are being typed.
  package private(set) var form: IntentForm?

  /// What the last answer or fault was.
  package var message = ""

  /// Whether another line is asked for when one is sent.
  private var isComposing = false

  /// The chosen row of each view; that of a log, where none is, is the last.
  private var rows: [Handle: Int] = [:]

  package init() {}

  // MARK: From the daemon

  /// Takes the answer to `open`.
  package mutating func open(_ answer: JSONObject) { stack.open(answer) }

  /// Takes a notification.
  package mutating func take(_ method: String, _ params: JSONObject) {
    let front = stack.front
    stack.take(method, params)
    if stack.front != front { form = nil }
    rows = rows.filter { stack[$0.key] != nil }
    guard method == "fail", case .object(let error)? = params["error"] else { return }
    if case .string(let text)? = error["message"] { message = text }
  }

  // MARK: What is in front

  /// The list in whose rows one chooses: the longest of the view in front; `nil` for none.
  package var list: (name: String, elements: [JSONValue])? {
    let lists = stack.frontView?.properties.compactMap { name, property in
      property.elements.map { (name: name, elements: $0) }
    }
    return lists?.max { ($0.elements.count, $1.name) < ($1.elements.count, $0.name) }
  }

  /// The index of the chosen row; `nil` when there is none to choose.
  package var row: Int? {
    guard let front = stack.front, let list, !list.elements.isEmpty else { return nil }
    return min(rows[front] ?? (isLog ? .max : 0), list.elements.count - 1)
  }

  /// Whether the list is a log, at whose end one looks: its elements have a `time`.
  private var isLog: Bool {
    if case .object(let element)? = list?.elements.last { element["time"] != nil } else { false }
  }

  private var chosen: JSONValue? { row.flatMap { list?.elements[$0] } }

  /// The intents of the view in front, each with the key that asks it.
  package var keys: [(key: Character, intent: ViewState.Intent)] {
    var taken: Set<Character> = ["q"]
    return stack.frontView?.intents.compactMap { intent in
      let wishes = intent.name.lowercased() + "abcdefghijklmnoprstuvwxyz123456789"
      guard let key = wishes.first(where: { $0.isASCII && !taken.contains($0) }) else { return nil }
      taken.insert(key)
      return (key, intent)
    } ?? []
  }

  // MARK: From the keyboard

  /// Takes a key.
  package mutating func press(_ key: Key) -> Action? {
    if form != nil { return type(key) }
    switch key {
    case .character("q"), .control("c"), .control("d"): return .quit
    case .escape, .left:
      guard let view = stack.frontView else { return .quit }
      return view.parent == nil && key == .escape ? .quit : back(from: view)
    case .tab: stack.turn()
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -10)
    case .pageDown: move(by: 10)
    case .home: move(by: -1_000_000)
    case .end: move(by: 1_000_000)
    case .enter, .right: return choose()
    case .character(let character):
      return keys.first { $0.key == character }.flatMap { begin($0.intent) }
    default: break
    }
    return nil
  }

  /// Leaves a view that was put above another; what is beside or in place of another stays.
  private func back(from view: ViewState) -> Action? {
    let nearest = stack.path.last { ["push", "present"].contains($0.style) }
    return nearest.map { .close($0.handle) }
  }

  private mutating func move(by rows: Int) {
    guard let front = stack.front, let row, let count = list?.elements.count else { return }
    let chosen = min(max(0, row + rows), count - 1)
    self.rows[front] = isLog && chosen == count - 1 ? nil : chosen
  }

  /// Asks what fits the chosen row, or lets one write.
  ///
  /// That is the intent that opens a view of the row, or the only one that has all its arguments in
  /// it. Where there is none, one writes: what takes one text.
  private mutating func choose() -> Action? {
    if case .object(let row)? = chosen, let front = stack.front {
      let fitting =
        stack.frontView?.intents.filter { intent in
          intent.concerns(row) && intent.parameters.allSatisfy { row[$0.name] != nil }
        } ?? []
      if let intent = fitting.first(where: { $0.opens != nil })
        ?? (fitting.count == 1 ? fitting.first : nil)
      {
        return .ask(front, intent: intent.name, IntentForm(intent, row: chosen).arguments)
      }
    }
    guard let written = stack.frontView?.intents.first(where: \.takesText) else { return nil }
    message = ""
    form = IntentForm(written, row: nil)
    isComposing = true
    return nil
  }

  private mutating func begin(_ intent: ViewState.Intent) -> Action? {
    message = ""
    guard let front = stack.front else { return nil }
    guard !intent.parameters.isEmpty else { return .ask(front, intent: intent.name, [:]) }
    let isPresented = stack.frontView?.style == "present"
    form = IntentForm(intent, row: chosen, view: isPresented ? stack.frontView : nil)
    isComposing = false
    return nil
  }

  private mutating func type(_ key: Key) -> Action? {
    guard var form, let front = stack.front else { return nil }
    if form.fields.count == 1, [.up, .down, .pageUp, .pageDown].contains(key) {
      move(by: key == .up ? -1 : key == .down ? 1 : key == .pageUp ? -10 : 10)
      return nil
    }
    let outcome = form.press(key)
    self.form = form
    switch outcome {
    case .goesOn: return nil
    case .cancelled:
      self.form = nil
      return nil
    case .done(let arguments):
      self.form = isComposing ? IntentForm(form.intent, row: nil) : nil
      return .ask(front, intent: form.intent.name, arguments)
    }
  }
}
