internal import Connections
internal import Signals

extension View {
  /// Closes the view when the user logs out or another one logs in.
  func isFor(_ user: UserSession, in session: Session) {
    session.user.bind(to: self) { view, now in if now !== user { view.dismiss() } }
  }
}
