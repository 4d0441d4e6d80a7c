internal import Connections
internal import Services
internal import Signals

extension View {
  /// Says for whom the view is: it closes when they are logged in no more, also when somebody else
  /// is.
  func isFor(_ user: UserSession, in session: Session) {
    session.user.bind(to: self) { view, now in if now !== user { view.dismiss() } }
  }
}
