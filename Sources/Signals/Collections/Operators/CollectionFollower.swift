/// Derives one collection from another that changes.
///
/// It holds the state for one observer.
package protocol CollectionFollower {
  associatedtype Input: ChangesetProtocol
  associatedtype Output: ChangesetProtocol

  /// The derived collection.
  var collection: Output.Collection { get }

  /// Rebuilds the derived collection from `collection`.
  mutating func reset(to collection: Input.Collection)

  /// Applies a changeset and returns the derived changes; `nil` if there are none.
  mutating func take(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>?
}

extension SignalProtocol where Element: ChangesetProtocol {
  /// Emits the changesets of a follower.
  ///
  /// Each observer has its own follower.
  package func followed<Follower: CollectionFollower>(
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

  /// Emits each changeset after computing its diff, so that all observers share the work.
  public func precalculateDiff() -> Signal<Element, Error> {
    map { changeset in
      _ = changeset.diff
      return changeset
    }
  }

  /// Emits each changeset after computing its patch, so that all observers share the work.
  public func precalculatePatch() -> Signal<Element, Error> {
    map { changeset in
      _ = changeset.patch
      return changeset
    }
  }
}
