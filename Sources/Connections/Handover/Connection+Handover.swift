package import JSON
package import Wire

// What survives a restart of the daemon; see ``Handover``.
extension Connection {
  /// Whether the connection may survive a restart, so that ``keep(_:_:_:)`` has an effect.
  package var isKept: Bool { kept != nil }

  /// Keeps something over a restart, until ``drop(_:_:)``.
  ///
  /// It replaces what was kept under the same key.
  package func keep(_ kind: HandoverKind, _ key: String, _ text: @autoclosure () -> JSONText) {
    guard let kept else { return }
    kept.set(HandoverItem(kind, key, text()))
    if !isEnded { list() }
  }

  /// Stops keeping something.
  package func drop(_ kind: HandoverKind, _ key: String) { kept?.remove(kind, key) }

  /// Whether a part is there that closes the connection if the daemon is killed; see
  /// ``ConnectionPart/Fate/closes``.
  ///
  /// Input that was read and not run is not meant: it can be run later.
  var isInHand: Bool {
    !held.isEmpty || !lateCalls.all.isEmpty || !followUps.isEmpty || intake.batch != nil
      || input.dropped != nil
      || kept?.isIncomplete == true
  }

  /// Returns the cursors of the subscriptions that have not sent everything, and keeps the events
  /// of workers.
  func cursors(keeping kept: HandoverClient) -> [HandoverCursor] {
    var cursors: [HandoverCursor] = []
    kept.isIncomplete = false
    for subscription in subscribed.all {
      if subscription.isIncomplete { kept.isIncomplete = true }
      subscription.keepWork(in: kept)
      let backlog = subscription.backlog
      subscription.isKeptAsSent = backlog == nil && !subscription.holdsUnsent
      guard let backlog else { continue }
      cursors.append(
        HandoverCursor(
          subscription.handle.text.text, backlog.after, isCaughtUp: backlog.isCaughtUp))
    }
    return cursors
  }

  /// Tells the client that the daemon stops: the connection goes on if it is started again, and ends
  /// otherwise.
  func announceStop() {
    guard kept != nil else { return }
    let isServed = beginServing()
    Frame.notification("stopping", &output.tail) {
      $0.member("reconnect_ms", Closing.shutdown.reconnectMilliseconds)
      $0.member("epoch", context.epoch)
      $0.member("last", context.position)
    }
    _ = sendOutput()
    if isServed { endServing(hasSent: false) }
  }

  /// Reports that a subscription could not be restored.
  package func fail(subscription handle: Handle, _ error: WireError) {
    Frame.notification("fail", &output.tail) {
      $0.member("sub", handle)
      $0.member("error", error)
    }
    list()
  }
}

extension Connection {
  /// Records that the client is being served, so that it is known if the daemon dies meanwhile.
  ///
  /// - Returns: Whether ``endServing(hasSent:)`` must follow.
  @inline(__always)
  func beginServing() -> Bool {
    guard let handover = context.handover else { return false }
    return handover.enter(self)
  }

  @inline(__always)
  func endServing(hasSent: Bool) { context.handover?.leave(self, hasSent: hasSent) }

  /// Ends serving the client after nothing was read from it, so that nothing of it has changed.
  func stopServing() { context.handover?.leaveUnchanged() }

  /// Sends what is due, as one step for the memory that survives the daemon.
  @inline(__always)
  func serve(_ send: () -> Void) {
    let isServed = beginServing()
    send()
    if isServed { endServing(hasSent: true) }
  }

  /// Keeps a new subscription over a restart.
  func keepAdded(_ subscription: Subscription) {
    guard let kept, let terms = subscription.terms else { return }
    kept.hasNewSubscriptions = true
    kept.set(HandoverItem(.subscription, subscription.handle.text.text, terms))
  }

  func dropRemoved(_ subscription: Subscription) {
    guard kept != nil else { return }
    drop(.subscription, subscription.handle.text.text)
    drop(.work, subscription.handle.text.text)
  }
}

extension Connection {
  /// Takes over what an earlier daemon has left of this connection, except its items.
  package func resume(_ kept: HandoverConnection) {
    requests = kept.requests
    connectedAt = kept.connectedAt
    subscribed.skipNumbers(upTo: kept.lastHandle)
    if !kept.input.isEmpty { input.putBack(kept.input.span) }
    guard !kept.output.isEmpty else { return }
    output.tail.append(kept.output.span)
    list()
  }
}

extension Connection: Keepable {
  var inputBytes: Int { input.keptBytes }
  var position: UInt64 { context.position }
  func appendInput(to buffer: inout ByteBuffer) { input.appendKept(to: &buffer) }
  func appendOutput(to buffer: inout ByteBuffer) { output.appendUnsent(to: &buffer) }
  func keepViews(in kept: HandoverClient) { openViews?.keep(in: kept) }
  func storeSocket(as name: String) { link.transport?.store(as: name) }

  /// Keeps a connection that an earlier daemon has left.
  package func keepNow() { context.handover?.keep(self) }
}
