internal import JSON
package import Wire

/// A form whose intent was sent.
struct SentForm {
  let view: Handle
  let form: IntentForm
  let isComposing: Bool
}

extension ViewSession {
  /// Something that is asked before it is done.
  package struct Question: Equatable {
    /// What would be done, for example `remove lobby`.
    package let text: String
    let action: Action
  }

  // MARK: What was sent

  /// What was to be done is sent.
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

  /// Takes the answer to what was sent; a form that is refused comes back with what was typed.
  ///
  /// - Parameters:
  ///   - fault: Why it is refused; `nil` when it is not.
  ///   - opened: The view that it has opened; `nil` for none.
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

  /// Goes on with what was refused, where nothing else is being typed.
  mutating func bringBack() {
    guard form?.isTouched != true, let i = returned.lastIndex(where: { $0.view == stack.front })
    else { return }
    let last = returned.remove(at: i)
    (form, isComposing) = (last.form, last.isComposing)
  }

  // MARK: What ends by itself

  /// Ends what is being typed or asked, and says so before a key means anything else.
  mutating func interrupt(_ reason: String) {
    guard form != nil || question != nil else { return }
    let typed = form.map { $0.intent.isLive ? [] : $0.fields.filter { !$0.isEmpty } } ?? []
    notice =
      reason
      + (typed.isEmpty ? "" : "; what you typed was not sent: " + typed.joined(separator: ", "))
    (form, question, unsent, isComposing) = (nil, nil, nil, false)
  }

  // MARK: What takes something away

  /// Does what is asked, or asks back when that takes something away.
  mutating func ask(
    _ intent: ViewState.Intent, _ arguments: JSONObject, of view: ViewState
  ) -> Action? {
    let action = Action.ask(view.handle, intent: intent.name, arguments)
    guard intent.isDestructive else { return action }
    question = Question(text: intent.name + " " + what(arguments, of: view), action: action)
    return nil
  }

  /// What an intent is about, as people call it: the chosen row, else the view.
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
  /// How people call what it describes.
  fileprivate var title: String? {
    for name in ["name", "title"] {
      if case .string(let text)? = self[name], !text.isEmpty { return text }
    }
    return nil
  }
}

extension ViewState {
  /// How it has ended, or what has come before it, by the notification that said so.
  func end(_ method: String, _ params: JSONObject) -> String {
    var why = params["reason"]?.bare
    if case .object(let error)? = params["error"] { why = error["message"]?.bare }
    return switch (method, why) {
    case ("opened", _): "another view has opened before '\(binder)'"
    case (_, "dismissed"): "the view '\(binder)' has ended: what it showed was removed or left"
    case (_, "replaced"): "another view has taken the place of '\(binder)'"
    case (_, "permission_denied"): "you may not see the view '\(binder)' any more"
    case (_, let why): "the view '\(binder)' has failed" + (why.map { ": \($0)" } ?? "")
    }
  }
}
