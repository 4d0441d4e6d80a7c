internal import Connections
internal import Signals

/// Creates login tokens for the logged-in user.
///
/// Each token is shown only once.
func bindToken(_ view: View, _ session: UserSession) {
  view.assign(
    "how", "a token lets you log in as \(session.name) from elsewhere; it is shown only once")
  let token = view["token"].hint(.quiet).loadedWhenAsked()
  view.intent("make").calls { _ in try session.prepareToken() }.unkept().main()
    .flatMapLatest { _ in session.users.token }
    .consumeLoadingState(by: token).bind(to: token)
  view.intent("done").dismisses()
  view.intent("revoke_all").calls { _ in try session.users.revokeTokens() }.destructive()
}
