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
  for turn in held { turn.deliver() }
  for turn in held { turn.settleTurn() }
}

/// What can wait with its changes.
private protocol TurnTaking {
  /// Keeps what is sent from now on; `false` when it does already.
  func hold() -> Bool

  /// Tells its observers what was kept.
  func deliver()

  /// Tells what hangs on it.
  func settleTurn()
}

extension ValueNode: TurnTaking {
  fileprivate func hold() -> Bool {
    guard !isDelivering else { return false }
    isDelivering = true
    mark()
    return true
  }

  fileprivate func deliver() {
    endDelivery()
  }

  fileprivate func settleTurn() {
    didSend()
  }
}
