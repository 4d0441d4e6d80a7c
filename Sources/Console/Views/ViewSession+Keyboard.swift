internal import JSON

// Keyboard handling.
extension ViewSession {
  /// Handles a key and returns the action to perform.
  package mutating func press(_ key: Key) -> Action? {
    if !isAway { (message, result) = ("", "") }
    let action = act(key)
    bringBack()
    focus()
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

  /// Sends or begins the main intent of the chosen row, otherwise that of the view; with neither, it
  /// shows the whole row.
  private mutating func choose() -> Action? {
    guard let front = stack.frontView else { return nil }
    if rowIntent != nil { return chooseRow(of: front) }
    if let main = front.main { return begin(main, for: nil) }
    if chosen != nil { pane = ViewPane(.details) }
    return nil
  }

  /// Sends the main intent of the chosen row, or opens its form.
  private mutating func chooseRow(of view: ViewState) -> Action? {
    guard case .object(let row)? = chosen, let intent = rowIntent else { return nil }
    guard intent.isDone(to: row, of: list?.name) else { return begin(intent, for: chosen) }
    return ask(intent, intent.arguments(for: row, of: list?.name), of: view)
  }

  /// The intent that enter sends, or for which it opens a form; `nil` for none.
  var entered: ViewState.Intent? {
    if let form, !form.isEmpty, !form.intent.isLive { return form.intent }
    return rowIntent ?? form?.intent ?? stack.frontView?.main
  }

  /// Returns whether an intent needs a form for arguments that the chosen row does not give.
  func begins(_ intent: ViewState.Intent) -> Bool {
    let fixed = intent.fixed(by: chosen, of: list?.name)
    if intent == rowIntent, case .object(let row)? = chosen,
      intent.isDone(to: row, of: list?.name)
    {
      return false
    }
    return intent.parameters.contains { fixed[$0.name] == nil }
  }

  private mutating func begin(_ intent: ViewState.Intent) -> Action? { begin(intent, for: chosen) }

  private mutating func begin(_ intent: ViewState.Intent, for row: JSONValue?) -> Action? {
    guard let front = stack.frontView else { return nil }
    let fixed = intent.fixed(by: row, of: list?.name)
    guard intent.parameters.contains(where: { fixed[$0.name] == nil }) else {
      return ask(intent, fixed, of: front)
    }
    isFocused = false
    if intent == front.main, intent.isFocused(in: front) {
      left = nil
      focus()
    } else {
      let view = isEdited(by: intent) ? front : nil
      form = IntentForm(intent, row: row, of: list?.name, view: view)
    }
    return nil
  }

  private mutating func type(_ key: Key) -> Action? {
    guard var form, let view = stack.frontView else { return nil }
    let front = view.handle
    if isFocused, isCommand(key, in: form) { return command(key, in: view) }
    if form.fields.count == 1, [.up, .down, .pageUp, .pageDown].contains(key) {
      move(by: key == .up ? -1 : key == .down ? 1 : key == .pageUp ? -10 : 10)
      return nil
    }
    let before = form.fields
    let outcome = form.press(key)
    switch outcome {
    case .cancelled: self.form = nil
    // A live intent was already sent while the user typed.
    case .refused where form.intent.isLive: self.form = nil
    case .refused(let reason): (self.form, message) = (form, reason)
    case .goesOn:
      self.form = form
      guard form.intent.isLive, form.fields != before, form.isComplete else { return nil }
      typed[front] = .ask(front, intent: form.intent.name, form.arguments)
      return typed[front]
    case .done where form.intent.isLive: self.form = nil
    // Keep the input until the daemon is back.
    case .done where isAway: self.form = form
    case .done(let arguments):
      unsent = SentForm(view: front, form: form, isFocused: isFocused)
      self.form = nil
      return ask(form.intent, arguments, of: view)
    }
    return nil
  }

  /// Returns whether a key is not for the text in the field of the main intent.
  private func isCommand(_ key: Key, in form: IntentForm) -> Bool {
    switch key {
    case .escape, .control("c"): true
    case .control("d"): form.isEmpty
    case .left: form.isEmpty && form.fields.count == 1
    case .tab: form.fields.count == 1
    case .enter: form.fields.count == 1 && (form.isEmpty || form.intent.isLive)
    default: false
    }
  }

  /// Handles such a key.
  private mutating func command(_ key: Key, in view: ViewState) -> Action? {
    switch key {
    case .escape:
      left = view.handle
      stow()
    case .control("c") where form?.isEmpty == false && form?.intent.isLive == false: form = nil
    case .control("c"), .control("d"): return .quit
    case .left: return back(from: view)
    case .tab: turn()
    case .enter:
      form?.markSent()
      return chooseRow(of: view)
    default: break
    }
    return nil
  }
}
