package import JSON
internal import Wire

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
    rows = Dictionary(
      uniqueKeysWithValues: way.old.compactMap { new, old in
        rows[old].map { (new, $0) }
      })
    (stack, unchosen, self.typed, pane) = (way.stack, [], [:], nil)
    (sent, returned, question, unsent) = ([:], [], nil, nil)
    (isAway, message) = (false, way.fault ?? "")
    trail = ViewTrail(way.origins)
    guard let front = stack.frontView else { return nil }
    if rows[front.handle] == nil { unchosen = [front.handle] }
    showChosen()
    // Continue the current input if its view and intent still exist.
    if let form,
      !isThere || before.front?.binder != front.binder || !front.intents.contains(form.intent)
    {
      interrupt("the daemon is back, but the view you were typing in is gone")
    }
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
