internal import Connections
internal import Services
internal import Signals

/// The window of the chat: it shows who is logged in, and the view that follows from that.
func bindChat(_ view: View, _ session: Session) {
  session.user.map { $0?.name }.bind(to: view["user"])
  session.user.bind(to: view) { view, user in
    if let user {
      view.open("main", as: .replace) { bindMain($0, user) }
    } else {
      view.open("login", as: .replace) { bindLogin($0, session) }
    }
  }
}
