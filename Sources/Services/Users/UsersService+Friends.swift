internal import Signals

extension UsersService {
  /// Tells from now on that a user, or one of their friends, may be another; others cost nothing.
  ///
  /// - Parameter events: What tells of a friend.
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
        case .befriended, .unfriended: follow()
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
