internal import JSON
internal import Wire

extension Connection {
  /// Answers a call once all frames up to a position were written before its answer.
  ///
  /// - Parameter call: A late call.
  package func sync(_ call: Call, at position: UInt64) {
    syncs.append((position, call))
    hub.list(self)
  }

  /// Answers the sync calls whose position is reached.
  ///
  /// Requires that all due frames were written.
  func answerSyncs() {
    let waiting = syncs
    syncs = []
    for (position, call) in waiting where !call.isOver {
      guard position <= hub.position, held.isEmpty,
        subscriptions.allSatisfy({ $0.hasShown(position) }), views.allSatisfy({ !$0.isDirty })
      else {
        syncs.append((position, call))
        continue
      }
      call.answer { $0.object { $0.member("seq", hub.position) } }
    }
    if !syncs.isEmpty { hub.await(self) }
  }
}
