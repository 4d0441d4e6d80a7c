/// Changes several properties at once; derived properties change after all of them.
///
/// Each property sends all its new values to its observers after `change` returns.
public func inOneTurn<each Property: DerivableProperty>(
  _ property: repeat each Property, change: () -> Void
) {
  var turns: [any TurnTaking] = []
  repeat turns.append((each property).node)
  let held = turns.filter { $0.hold() }
  change()
  for turn in held { turn.release() }
}

/// A node that can defer its changes.
private protocol TurnTaking {
  /// Defers all events sent from now on; returns `false` if they are deferred already.
  func hold() -> Bool

  /// Sends the deferred events to the observers, and settles the dependents.
  func release()
}

extension ValueNode: TurnTaking {
  fileprivate func hold() -> Bool {
    guard !isDelivering else { return false }
    isDelivering = true
    mark()
    return true
  }

  fileprivate func release() {
    endDelivery()
    didSend()
  }
}
