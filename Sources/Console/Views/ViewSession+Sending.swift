internal import JSON
package import Wire

/// A form whose intent was sent.
struct SentForm {
  let view: Handle
  let form: IntentForm
  let isComposing: Bool
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
    }
  }

  /// Handles a reply.
  ///
  /// A refused form is shown again with its input.
  ///
  /// - Parameters:
  ///   - fault: The reason for a refusal; `nil` on success.
  ///   - opened: The view that was opened; `nil` for none.
  package mutating func answer(_ request: Int, fault: String?, opened: Handle? = nil) {
    guard returning == nil else {
      if returning?.request == request { returning?.answer(fault: fault) }
      return
    }
    trail.answer(request, isRefused: fault != nil, opened: opened)
    message = fault ?? ""
    guard let sent = sent.removeValue(forKey: request), fault != nil, sent.view == stack.front
    else { return }
    returned.append(sent)
    bringBack()
  }

  /// Shows the last refused form again, unless the user is typing.
  mutating func bringBack() {
    guard form?.isTouched != true, let i = returned.lastIndex(where: { $0.view == stack.front })
    else { return }
    let last = returned.remove(at: i)
    (form, isComposing) = (last.form, last.isComposing)
  }

  // MARK: Interrupted input

  /// Discards the form or question, and shows a notice with the lost input.
  mutating func interrupt(_ reason: String) {
    guard form != nil || question != nil else { return }
    let typed = form.map { $0.intent.isLive ? [] : $0.fields.filter { !$0.isEmpty } } ?? []
    notice =
      reason
      + (typed.isEmpty ? "" : "; what you typed was not sent: " + typed.joined(separator: ", "))
    (form, question, unsent, isComposing) = (nil, nil, nil, false)
  }

  // MARK: Destructive intents

  /// Returns the action for an intent, or asks for confirmation if it is destructive.
  mutating func ask(
    _ intent: ViewState.Intent, _ arguments: JSONObject, of view: ViewState
  ) -> Action? {
    let action = Action.ask(view.handle, intent: intent.name, arguments)
    guard intent.isDestructive else { return action }
    question = Question(text: intent.name + " " + what(arguments, of: view), action: action)
    return nil
  }

  /// Returns the subject of an intent in words: the chosen row, otherwise the view.
  private func what(_ arguments: JSONObject, of view: ViewState) -> String {
    if case .object(let row)? = chosen, let id = row["id"],
      arguments.members.contains(where: { $0.value == id })
    {
      return row.title ?? id.bare
    }
    guard arguments.members.isEmpty else { return JSONValue.object(arguments).short }
    var properties = JSONObject()
    for (name, property) in view.properties { properties[name] = property.value }
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
}

extension ViewState {
  /// Returns the reason why it closed, or lost the front, according to a notification.
  func end(_ method: String, _ params: JSONObject) -> String {
    var why = params["reason"]?.bare
    if case .object(let error)? = params["error"] { why = error["message"]?.bare }
    return switch (method, why) {
    case ("opened", _): "another view opened in front of '\(binder)'"
    case (_, "dismissed"): "the view '\(binder)' has ended: what it showed was removed or left"
    case (_, "replaced"): "another view replaced '\(binder)'"
    case (_, "permission_denied"): "you may no longer see the view '\(binder)'"
    case (_, let why): "the view '\(binder)' has failed" + (why.map { ": \($0)" } ?? "")
    }
  }
}
