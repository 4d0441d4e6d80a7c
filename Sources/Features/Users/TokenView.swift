internal import Connections
internal import Signals

/// Creates login tokens for the logged-in user.
///
/// Each token is shown only once.
func bindToken(_ view: View, _ session: UserSession) {
  view.assign(
    "how", "a token lets you log in as \(session.name) from elsewhere; it is shown only once")
  view.intent("make").calls { _ in try session.prepareToken() }.unkept()
    .flatMapLatest { _ in session.users.token }
    .consumeLoadingState(by: view["token"].loadedWhenAsked()).bind(to: view["token"])
  view.intent("revoke_all").calls { _ in try session.users.revokeTokens() }.destructive()
  view.intent("done").dismisses()
}
