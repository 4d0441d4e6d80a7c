package import JSON
package import Model
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

  /// The last error, or why nothing was done; it stays until the next key.
  package var message = ""

  /// The last answer that the user wanted, in one line; it stays until the next key.
  package internal(set) var result = ""

  /// Whether the daemon is disconnected.
  package internal(set) var isAway = false

  /// Whether the form is the field of the main intent, which opens by itself.
  package internal(set) var isFocused = false

  /// The view whose field the user has left, so that letters are keys.
  var left: Handle?

  /// The texts in fields that the user has left, by view.
  var drafts: [Handle: IntentForm] = [:]

  /// The form about to be sent, and the sent forms by request; refused ones are shown again.
  var unsent: SentForm?
  var sent: [Int: SentForm] = [:]

  /// Refused forms that wait because another form is open.
  var returned: [SentForm] = []

  /// The last action of a live intent, per view.
  var typed: [Handle: Action] = [:]

  /// The chosen list and rows of each view.
  var choices: [Handle: RowChoice] = [:]

  /// The sent intents whose answers the user wants to see, by request.
  var asked: [Int: ViewState.Intent] = [:]

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
  package mutating func receive(
    _ method: String, _ params: JSONObject
  ) throws(CollectionChange.Fault) {
    guard returning == nil else {
      try returning?.receive(method, params)
      return
    }
    trail.receive(method, params, stack)
    let (front, id, view, list) = (stack.front, chosen?.id, stack.frontView, list?.name)
    try stack.receive(method, params)
    if stack.front != front {
      pane = nil
      let end = view.map { $0.end(method, params) } ?? ""
      if question != nil || !isFocused || form?.isTouched == true { interrupt(end) }
      (form, question, left, returned) = (nil, nil, nil, [])
      if stack.isEmpty { ending = end }
    }
    choices = choices.filter { stack[$0.key] != nil }
    typed = typed.filter { stack[$0.key] != nil }
    drafts = drafts.filter { stack[$0.key] != nil }
    unchosen.formIntersection(stack.views.map(\.handle))
    if let list, front == stack.front { follow(id, in: list) }
    if method == "opened", let handle = params["view"].flatMap(Handle.init) {
      unchosen.insert(handle)
    }
    showChosen()
    focus()
    guard method == "fail", case .object(let error)? = params["error"] else { return }
    if case .string(let text)? = error["message"] { message = text }
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
      guard let list = list(of: view),
        let row = list.elements.firstIndex(where: { $0.id == id })
      else { continue }
      choices[handle, default: RowChoice()].rows[list.name] = row
      unchosen.remove(handle)
    }
  }

  // MARK: The front view

  /// Brings the next tab to the front.
  mutating func turn() {
    stow()
    stack.turn()
    left = nil
  }

  /// The intents of the front view that make sense now, with their keys.
  ///
  /// The key is the first letter of the name; if that is taken, another letter of it, or a capital
  /// one.
  package var keys: [(key: Character, intent: ViewState.Intent)] {
    let intents = stack.frontView?.intents ?? []
    var keys: [Character?] = []
    for intent in intents {
      let first = intent.name.lowercased().first
      keys.append(first == "q" || keys.contains(first) ? nil : first)
    }
    for i in intents.indices where keys[i] == nil {
      let name = intents[i].name.lowercased()
      let wishes = name + name.uppercased() + "abcdefghijklmnoprstuvwxyz123456789"
      keys[i] = wishes.first { $0.isASCII && $0 != "q" && $0 != "_" && !keys.contains($0) }
    }
    return zip(keys, intents).compactMap { key, intent in
      // An intent of a list needs a chosen row there.
      let isHere = intent.list == nil || intent.list == list?.name && fits(intent)
      let isOffered = isHere && stack.frontView?.offers(intent) == true
      return key.flatMap { isOffered ? ($0, intent) : nil }
    }
  }

  /// The properties of a view besides its lists that people are to see.
  ///
  /// Those of a dialog or a search are in the fields of the form.
  func properties(of view: ViewState) -> [(name: String, property: ViewState.Property)] {
    let lists = view.lists.map(\.name)
    let isFront = view.handle == stack.front
    let isInForm = isFront && (form?.intent.isLive == true || view.style == "present")
    return view.properties.filter { name, property in
      !lists.contains(name) && name != "chosen" && property.isShown
        && !(isInForm && form?.parameters.contains { $0.name == name } == true)
    }
  }

  /// Returns whether an intent changes the properties of the front view that have the names of its
  /// parameters.
  func isEdited(by intent: ViewState.Intent?) -> Bool {
    guard let intent else { return false }
    return intent.isLive || stack.frontView?.style == "present"
      || stack.frontView?.properties[intent.name] != nil
      || intent == stack.frontView?.main && !intent.takesText
  }
}

/// A form whose intent was sent.
struct SentForm {
  let view: Handle
  let form: IntentForm
  let isFocused: Bool
}

extension ViewSession {
  /// A confirmation before an action.
  package struct Question: Equatable {
    /// The action in words, for example `remove lobby`.
    package let text: String
    let action: Action
  }

  // MARK: Requests and replies

  /// Records that an action was sent.
  package mutating func send(_ action: Action, as request: Int) {
    if returning != nil {
      returning?.request = request
      return
    }
    sent[request] = unsent
    unsent = nil
    if case .ask(let handle, let intent, let arguments) = action, let view = stack[handle] {
      trail.ask(view, intent, arguments, as: request)
      asked[request] = view.intents.first { $0.name == intent && $0.isAnswer }
    }
  }

  /// Handles a reply.
  ///
  /// A refused form is shown again with its input.
  ///
  /// - Parameters:
  ///   - fault: The reason for a refusal; `nil` on success.
  ///   - opened: The view that was opened; `nil` for none.
  ///   - value: The value of the answer; `nil` for none.
  package mutating func answer(
    _ request: Int, fault: String?, opened: Handle? = nil, value: JSONValue? = nil
  ) {
    guard returning == nil else {
      if returning?.request == request { returning?.answer(fault: fault) }
      return
    }
    trail.answer(request, isRefused: fault != nil, opened: opened)
    message = fault ?? ""
    if let intent = asked.removeValue(forKey: request), fault == nil {
      show(value ?? .null, of: intent)
    }
    guard let sent = sent.removeValue(forKey: request), fault != nil, sent.view == stack.front
    else { return }
    returned.append(sent)
    bringBack()
  }

  // MARK: The field of the main intent

  /// Opens the field of the main intent, unless something else is in the way or the user has left
  /// it.
  ///
  /// A field whose intent makes no sense any more is closed, unless the user types.
  mutating func focus() {
    guard let front = stack.frontView else { return }
    if isFocused, let form, !form.isTouched, !front.offers(form.intent) { self.form = nil }
    guard form == nil, question == nil, notice == nil, pane == nil, left != front.handle,
      let main = front.main, main.isFocused(in: front)
    else { return }
    let draft = drafts.removeValue(forKey: front.handle)
    form =
      draft?.intent == main
      ? draft : IntentForm(main, row: nil, of: nil, view: isEdited(by: main) ? front : nil)
    isFocused = true
  }

  /// Closes the field and keeps its text.
  mutating func stow() {
    guard let form, let front = stack.front else { return }
    if isFocused, !form.isEmpty { drafts[front] = form }
    self.form = nil
  }

  /// Returns whether a row is chosen for which an intent makes sense.
  private func fits(_ intent: ViewState.Intent) -> Bool {
    guard case .object(let row)? = chosen else { return chosen != nil }
    return intent.fits(row)
  }

  /// The intent that is main for the chosen row; `nil` for none.
  var rowIntent: ViewState.Intent? {
    guard case .object(let row)? = chosen, let front = stack.frontView else { return nil }
    return front.intents.first {
      $0.isMain && front.offers($0) && $0.concerns(row, of: list?.name)
    }
  }

  /// Shows an answer: in one line if it is short, otherwise instead of the view.
  private mutating func show(_ value: JSONValue, of intent: ViewState.Intent) {
    let short = value.short
    let isShort =
      switch value {
      case .object: false
      case .array(let elements):
        elements.allSatisfy { if case .object = $0 { false } else { true } } && short.count <= 60
      default: short.count <= 60 && !short.contains(where: \.isNewline)
      }
    guard isShort || form != nil && !isFocused || question != nil || notice != nil else {
      pane = ViewPane(.answer(intent.title, value))
      return
    }
    result = intent.title + ": " + (short.isEmpty ? "nothing" : short)
  }

  /// Shows the last refused form again, unless the user is typing.
  mutating func bringBack() {
    guard form?.isTouched != true, let i = returned.lastIndex(where: { $0.view == stack.front })
    else { return }
    let last = returned.remove(at: i)
    (form, isFocused) = (last.form, last.isFocused)
  }

  // MARK: Interrupted input

  /// Discards the form or question, and shows a notice with the lost input.
  mutating func interrupt(_ reason: String) {
    guard form != nil || question != nil else { return }
    let typed = form.map { $0.intent.isLive ? [] : $0.fields.filter { !$0.isEmpty } } ?? []
    notice =
      reason
      + (typed.isEmpty ? "" : "; what you typed was not sent: " + typed.joined(separator: ", "))
    (form, question, unsent) = (nil, nil, nil)
  }

  // MARK: Destructive intents

  /// Returns the action for an intent, or asks for confirmation if it is destructive.
  mutating func ask(
    _ intent: ViewState.Intent, _ arguments: JSONObject, of view: ViewState
  ) -> Action? {
    let action = Action.ask(view.handle, intent: intent.name, arguments)
    guard intent.isDestructive else { return action }
    let what = what(intent, arguments, of: view)
    question = Question(text: intent.title + " " + what, action: action)
    return nil
  }

  /// Returns the subject of an intent in words: the chosen row, otherwise the view.
  private func what(
    _ intent: ViewState.Intent, _ arguments: JSONObject, of view: ViewState
  ) -> String {
    if case .object(let row)? = chosen, let list, intent.concerns(row, of: list.name),
      let id = row["id"], arguments.members.contains(where: { $0.value == id })
    {
      return "'\(row.shownTitle(in: view.properties[list.name] ?? .init()) ?? id.bare)'"
    }
    guard arguments.members.isEmpty else {
      let secrets = intent.parameters.filter { $0.format == "secret" }.map(\.name)
      return JSONValue.object(arguments).without(secrets).short
    }
    var properties = JSONObject()
    for (name, property) in view.properties where property.hint != "hidden" {
      properties[name] = property.value
    }
    if let title = properties.title { return title }
    let titles = properties.members.lazy.compactMap { member in
      if case .object(let object) = member.value { object.title } else { nil }
    }
    if let title = titles.first { return title }
    guard case .object(let shown)? = properties[view.binder] else { return view.binder }
    return shown["id"]?.bare ?? view.binder
  }
}

extension JSONObject {
  /// The name or title of the described thing.
  fileprivate var title: String? {
    for name in ["name", "title"] {
      if case .string(let text)? = self[name], !text.isEmpty { return text }
    }
    return nil
  }

  /// The name or title of a row, otherwise the first thing that people see of it.
  fileprivate func shownTitle(in list: ViewState.Property) -> String? {
    for name in ["name", "title", "text", "body"] {
      if case .string(let text)? = self[name], !text.isEmpty { return text.cut(to: 40) }
    }
    let shown = JSONValue.object(self).shown(in: list).without(list.hides)
    guard case .object(let row) = shown else { return nil }
    let seen = row.members.filter { member in
      if case .number = member.value, member.name == "id" { return false }
      return member.value != .null && !member.value.short.isEmpty
    }
    // A number alone says little.
    let isNumber = if case .number? = seen.first.flatMap({ self[$0.name] }) { true } else { false }
    let texts = seen.prefix(isNumber ? 3 : 1).map(\.value.short)
    return texts.isEmpty ? nil : texts.joined(separator: " ").cut(to: 40)
  }
}

extension ViewState {
  /// Returns the reason why it closed, or lost the front, according to a notification.
  func end(_ method: String, _ params: JSONObject) -> String {
    var why = params["reason"]?.bare
    if case .object(let error)? = params["error"] { why = error["message"]?.bare }
    return switch (method, why) {
    case ("opened", _): "another view opened in front of '\(binder.shownName)'"
    case (_, "dismissed"):
      "the view '\(binder.shownName)' has ended: what it showed was removed or left"
    case (_, "replaced"): "another view replaced '\(binder.shownName)'"
    case (_, "changed"): "the view '\(binder.shownName)' has changed"
    case (_, "permission_denied"): "you may no longer see the view '\(binder.shownName)'"
    case (_, let why):
      "the view '\(binder.shownName)' has failed" + (why.map { ": \($0)" } ?? "")
    }
  }
}

// Opening of views after a connection or a reconnection.
extension ViewSession {
  /// Handles the reply to `open`.
  ///
  /// After a reconnection the earlier views are reopened first, see ``next()``.
  ///
  /// - Returns: The action that restores the earlier content.
  @discardableResult
  package mutating func open(_ answer: JSONObject) -> Action? {
    returning = ViewReturn(to: stack.path, trail, from: answer)
    return next()
  }

  /// Returns the next action for reopening views; `nil` if there is none, or none yet.
  package mutating func next() -> Action? {
    guard var way = returning else { return nil }
    let next = way.next()
    returning = way
    switch next {
    case .ask(let view, let intent, let arguments):
      return .ask(view, intent: intent, arguments)
    case .sync: return .sync
    case .wait: return nil
    case .end(let isThere):
      returning = nil
      return arrive(way, isThere: isThere)
    }
  }

  /// Switches to the views of the new connection.
  private mutating func arrive(_ way: ViewReturn, isThere: Bool) -> Action? {
    let before = (root: stack.views.first, front: stack.frontView)
    let typed = typed
    choices = Dictionary(
      uniqueKeysWithValues: way.old.compactMap { new, old in
        choices[old].map { (new, $0.renamed(to: way.stack[new]?.lists.map(\.name) ?? [])) }
      })
    drafts = Dictionary(
      uniqueKeysWithValues: way.old.compactMap { new, old in drafts[old].map { (new, $0) } })
    left = way.old.first { $0.value == left }?.key
    (stack, unchosen, self.typed, pane) = (way.stack, [], [:], nil)
    (sent, asked, returned, question, unsent) = ([:], [:], [], nil, nil)
    (isAway, message) = (false, way.fault ?? "")
    trail = ViewTrail(way.origins)
    guard let front = stack.frontView else { return nil }
    if choices[front.handle] == nil { unchosen = [front.handle] }
    showChosen()
    // Continue the current input if its view and intent still exist.
    if let form,
      !isThere || before.front?.binder != front.binder || !front.intents.contains(form.intent)
    {
      if !isFocused || form.isTouched {
        interrupt("the daemon is back, but the view you were typing in is gone")
      }
      self.form = nil
    }
    focus()
    if let form, form.intent.isLive {
      self.typed[front.handle] = .ask(front.handle, intent: form.intent.name, form.arguments)
    } else if before.root?.binder == front.binder,
      case .ask(_, let intent, let arguments)? = before.root.flatMap({ typed[$0.handle] }),
      front.intents.contains(where: { $0.name == intent && $0.isLive })
    {
      self.typed[front.handle] = .ask(front.handle, intent: intent, arguments)
    }
    return self.typed[front.handle]
  }
}
