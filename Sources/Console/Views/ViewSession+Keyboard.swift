internal import JSON

// Keyboard handling.
extension ViewSession {
  /// Handles a key and returns the action to perform.
  package mutating func press(_ key: Key) -> Action? {
    let action = act(key)
    bringBack()
    // While the daemon is away, no other action is possible.
    guard isAway, action != .quit else { return action }
    unsent = nil
    return nil
  }

  private mutating func act(_ key: Key) -> Action? {
    if notice != nil { return acknowledge(key) }
    if question != nil { return decide(key) }
    if pane != nil { return read(key) }
    if form != nil { return type(key) }
    switch key {
    case .character("q"), .control("c"), .control("d"): return .quit
    case .escape, .left:
      guard let view = stack.frontView else { return .quit }
      return back(from: view)
    case .tab: turn()
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -10)
    case .pageDown: move(by: 10)
    case .home: move(by: -1_000_000)
    case .end: move(by: 1_000_000)
    case .enter, .right: return choose()
    case .character("?"): pane = ViewPane(.keys)
    case .character(" "): pane = ViewPane(.details)
    case .character(let character):
      return keys.first { $0.key == character }.flatMap { begin($0.intent) }
    default: break
    }
    return nil
  }

  /// Closes the nearest view that covers another; tabs and replacements stay.
  private mutating func back(from view: ViewState) -> Action? {
    guard let nearest = stack.path.last(where: { ["push", "present"].contains($0.style) }) else {
      if !isAway { message = "there is nothing to go back to; q quits" }
      return nil
    }
    return .close(nearest.handle)
  }

  /// Dismisses the notice about interrupted input.
  ///
  /// Enter does not dismiss it, because a user who was typing may just have pressed it.
  private mutating func acknowledge(_ key: Key) -> Action? {
    if [.escape, .control("c"), .control("d")].contains(key) { notice = nil }
    return nil
  }

  /// Handles the answer to a question.
  private mutating func decide(_ key: Key) -> Action? {
    switch key {
    case .character("y"), .character("Y"):
      defer { question = nil }
      return question?.action
    case .character("n"), .character("N"), .escape, .left, .enter, .control("c"), .control("d"):
      (question, unsent) = (nil, nil)
    default: break
    }
    return nil
  }

  /// Handles a key in a pane.
  private mutating func read(_ key: Key) -> Action? {
    switch key {
    case .control("c"), .control("d"): return .quit
    case .up: pane?.move(by: -1)
    case .down: pane?.move(by: 1)
    case .pageUp: pane?.move(by: -10)
    case .pageDown: pane?.move(by: 10)
    case .home: pane?.move(by: -1_000_000)
    case .end: pane?.move(by: 1_000_000)
    case .escape, .left, .enter, .character("q"), .character("?"), .character(" "): pane = nil
    default: break
    }
    return nil
  }

  /// Performs the intent that fits the chosen row, or opens a form for text.
  ///
  /// It takes the intent that opens a view of the row, or the only one whose arguments the row has.
  /// Otherwise it opens a form for the first intent that takes one text.
  private mutating func choose() -> Action? {
    if case .object(let row)? = chosen, let front = stack.frontView {
      let fitting = front.intents.compactMap { intent in
        intent.arguments(for: row, of: list?.name).map { (intent: intent, arguments: $0) }
      }
      if let (intent, arguments) = fitting.first(where: { $0.intent.opens != nil })
        ?? (fitting.count == 1 ? fitting.first : nil)
      {
        return ask(intent, arguments, of: front)
      }
    }
    let written = stack.frontView.flatMap { view in
      view.intents.first { $0.isMain && $0.takesText } ?? view.intents.first(where: \.takesText)
    }
    guard let written else { return nil }
    let action = begin(written, for: nil)
    isComposing = !written.isLive && stack.frontView?.style != "present"
    return action
  }

  private mutating func begin(_ intent: ViewState.Intent) -> Action? { begin(intent, for: chosen) }

  private mutating func begin(_ intent: ViewState.Intent, for row: JSONValue?) -> Action? {
    if !isAway { message = "" }
    guard let front = stack.frontView else { return nil }
    guard !intent.parameters.isEmpty else { return ask(intent, [:], of: front) }
    let isEditing = intent.isLive || front.style == "present"
    form = IntentForm(intent, row: row, of: list?.name, view: isEditing ? front : nil)
    (isComposing, isNextLine) = (false, false)
    return nil
  }

  private mutating func type(_ key: Key) -> Action? {
    guard var form, let view = stack.frontView else { return nil }
    let front = view.handle
    if form.fields.count == 1, [.up, .down, .pageUp, .pageDown].contains(key) {
      move(by: key == .up ? -1 : key == .down ? 1 : key == .pageUp ? -10 : 10)
      return nil
    }
    let before = form.fields
    let outcome = form.press(key)
    switch outcome {
    case .cancelled: self.form = nil
    case .goesOn:
      self.form = form
      guard form.intent.isLive, form.fields != before, form.isComplete else { return nil }
      typed[front] = .ask(front, intent: form.intent.name, form.arguments)
      return typed[front]
    // A live intent was already sent while the user typed.
    case .done where form.intent.isLive: self.form = nil
    // Keep the input until the daemon is back.
    case .done where isAway: self.form = form
    case .done(let arguments):
      unsent = SentForm(view: front, form: form, isComposing: isComposing)
      self.form = isComposing ? IntentForm(form.intent, row: nil, of: nil) : nil
      isNextLine = isComposing
      return ask(form.intent, arguments, of: view)
    }
    return nil
  }
}
