internal import Connections
internal import Signals

/// Shows the chat: the main view for a logged-in user, otherwise the login view.
func bindChat(_ view: View, _ session: Session) {
  session.user.map { $0?.name }.bind(to: view["user"].hint(.quiet))
  session.user.bind(to: view) { view, user in
    if let user {
      view.open("main", as: .replace) { bindMain($0, user) }
    } else {
      view.open("login", as: .replace) { bindLogin($0, session) }
    }
  }
}
