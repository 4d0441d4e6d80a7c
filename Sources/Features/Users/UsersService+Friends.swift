internal import EventSourcing
internal import Signals

extension UsersService {
  /// Emits when a user, or one of their friends, may have changed; events of others cost nothing.
  ///
  /// - Parameter events: Returns the signal that reports changes of a friend.
  func friendEvents(
    of name: String, _ events: @escaping (_ friend: String) -> SafeSignal<Void>
  ) -> SafeSignal<Void> {
    SafeSignal { [self] observer in
      var friends: [String: any Disposable] = [:]
      func follow() {
        let now = Set(ledger.shown[name]?.friends ?? [])
        for (friend, observation) in friends where !now.contains(friend) {
          observation.dispose()
          friends[friend] = nil
        }
        for friend in now where friends[friend] == nil {
          friends[friend] = events(friend).observeNext { observer.receive(()) }
        }
      }
      follow()
      let own = self.events(of: name).observeNext { event, _ in
        switch event {
        case .friendAdded, .friendRemoved: follow()
        default: break
        }
        observer.receive(())
      }
      return BlockDisposable {
        own.dispose()
        for observation in friends.values { observation.dispose() }
        friends = [:]
      }
    }
  }
}
