/// Changes several properties as one: whoever depends on them is told when all have changed.
///
/// Each property still tells its own observers of each of its values, after `change`.
package func inOneTurn<each Property: DerivableProperty>(
  _ property: repeat each Property, change: () -> Void
) {
  var turns: [any TurnTaking] = []
  repeat turns.append((each property).node)
  let held = turns.filter { $0.hold() }
  change()
  for turn in held { turn.release() }
}

/// What can wait with its changes.
private protocol TurnTaking {
  /// Keeps what is sent from now on; `false` when it does already.
  func hold() -> Bool

  /// Tells its observers what was kept, and what hangs on it that it has settled.
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
