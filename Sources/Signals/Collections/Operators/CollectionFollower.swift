/// What makes another collection of one that changes: all that one observer needs.
protocol CollectionFollower {
  associatedtype Input: ChangesetProtocol
  associatedtype Output: ChangesetProtocol

  /// What is made.
  var collection: Output.Collection { get }

  /// Makes it anew.
  mutating func reset(to collection: Input.Collection)

  /// Changes it with the other and returns what that changed, `nil` for nothing.
  mutating func take(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>?
}

extension SignalProtocol where Element: ChangesetProtocol {
  /// Emits what a follower makes, one for each observer.
  func followed<Follower: CollectionFollower>(
    by follower: @escaping () -> Follower
  ) -> Signal<Follower.Output, Error> where Follower.Input == Element {
    Signal { observer in
      var follower = follower()
      var isFirst = true
      return observe { event in
        switch event {
        case .next(let changeset):
          var changes: Changes<Follower.Output.Operation, Follower.Output.Diff>? = .whole
          if isFirst || changeset.changes.isWhole {
            follower.reset(to: changeset.collection)
          } else {
            changes = follower.take(changeset)
          }
          isFirst = false
          guard let changes else { return }
          observer.receive(Follower.Output(collection: follower.collection, changes: changes))
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Emits the same when the diff of each is known, so that all observers share the work.
  package func precalculateDiff() -> Signal<Element, Error> {
    map { changeset in
      _ = changeset.diff
      return changeset
    }
  }

  /// Emits the same when the patch of each is known, so that all observers share the work.
  package func precalculatePatch() -> Signal<Element, Error> {
    map { changeset in
      _ = changeset.patch
      return changeset
    }
  }
}
