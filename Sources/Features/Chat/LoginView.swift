internal import Connections
internal import Signals

/// Lets a user log in with a known name, a new name or a token.
func bindLogin(_ view: View, _ session: Session) {
  view.assign("welcome", "pick a new user name, which becomes yours, or one you already own")
  session.names.bind(to: view["names"], as: NameRow.self)
  view.intent("log_in", NewName.self).calls { _ = try session.logIn(name: $0.name) }.unkept()
    .main()
  view.intent("choose", NameRow.self).calls { _ = try session.logIn(known: $0.id) }.unkept()
  view.intent("token", GivenToken.self).calls { _ = try session.logIn(token: $0.token) }.unkept()
}

private struct NameRow: Codable, ListRow {
  let id: String

  init(_ name: String, _: String) { id = name }
}

private struct NewName: Decodable {
  let name: String
}

private struct GivenToken: Decodable {
  let token: String
}
