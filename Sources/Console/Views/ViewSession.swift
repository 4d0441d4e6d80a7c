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

  /// The chosen row of each view.
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
    return min(rows[front] ?? 0, list.elements.count - 1)
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
    self.rows[front] = min(max(0, row + rows), count - 1)
  }

  /// Asks the first intent that concerns the chosen row, which has all its arguments.
  private mutating func choose() -> Action? {
    guard case .object(let row)? = chosen else { return nil }
    let fitting = stack.frontView?.intents.first { intent in
      intent.concerns(row) && intent.parameters.allSatisfy { row[$0.name] != nil }
    }
    guard let fitting, let front = stack.front else { return nil }
    return .ask(front, intent: fitting.name, IntentForm(fitting, row: chosen).arguments)
  }

  private mutating func begin(_ intent: ViewState.Intent) -> Action? {
    message = ""
    guard let front = stack.front else { return nil }
    guard !intent.parameters.isEmpty else { return .ask(front, intent: intent.name, [:]) }
    form = IntentForm(intent, row: chosen)
    return nil
  }

  private mutating func type(_ key: Key) -> Action? {
    guard var form, let front = stack.front else { return nil }
    let outcome = form.press(key)
    self.form = form
    switch outcome {
    case .goesOn: return nil
    case .cancelled:
      self.form = nil
      return nil
    case .done(let arguments):
      self.form = nil
      return .ask(front, intent: form.intent.name, arguments)
    }
  }
}
