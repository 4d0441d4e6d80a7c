import Connections
import ServiceTestSupport
import TestSupport
import Testing

/// The example of the Binder Architecture: a profile and its friends.
@Suite(.leavesNothing)
struct ProfileViewTests {
  private let chat: ChatBench
  private let kim: TestClient

  init() throws {
    chat = try ChatBench()
    kim = chat.client("kim")
    _ = chat.client("lee", uid: 1001)
  }

  @Test
  func `the profile is assigned, bound and observed`() throws {
    let opened = kim.open("profile", "p")
    #expect(
      opened.first?.contains(
        #""props":{"name":{"kind":"state","value":"kim"},"#
          + #""full_name":{"kind":"state","hint":"quiet","value":""},"#
          + #""about":{"kind":"state","hint":"quiet","value":""},"#
          + #""friends":{"kind":"loading","state":"loaded","value":[]},"#
          + #""added":{"kind":"loading","hint":"quiet"}}"#)
        == true, "\(opened)")
  }

  @Test
  func `adding a friend is loading until the event is durable`() throws {
    _ = kim.open("profile", "p")
    kim.send(
      #"{"id":2,"method":"intent","params":{"view":"p","name":"add_friend","args":{"name":"lee"}}}"#
    )
    #expect(
      kim.received() == [
        #"{"jsonrpc":"2.0","method":"next","params":{"view":"p","seq":2,"#
          + #""props":{"added":{"state":"loading"}}}}"#
      ])
    #expect(
      kim.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"seq":3,"version":2}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"view":"p","seq":3,"props":"#
          + #"{"friends":{"changes":[{"op":"insert","at":0,"value":"lee"}]},"#
          + #""added":{"state":"loaded","value":"lee"}}}}"#,
      ])
    let refused = kim.ask("p", "add_friend", #"{"name":"nobody"}"#)
    #expect(refused.last?.contains(#""added":{"state":"failed","error":{"code":1001"#) == true)
  }

  @Test
  func `the profile is edited in a view that is presented, saved and dismissed`() throws {
    _ = kim.open("profile", "p")
    #expect(
      kim.ask("p", "edit_profile").last?.contains(#""binder":"edit_profile","style":"present""#)
        == true)
    let bad = kim.ask("p.1", "save", #"{"full_name":"a\u0007","about":""}"#)
    #expect(bad.first?.contains(#""path":"/args/full_name""#) == true)
    #expect(kim.connection.views.all.count == 2, "what is refused closes nothing")
    let saved = kim.ask("p.1", "save", #"{"full_name":"Kim","about":"hi"}"#)
    #expect(saved.contains { $0.contains(#""view":"p.1","seq":3,"reason":"dismissed""#) })
    #expect(
      saved.last?.contains(#"{"full_name":{"value":"Kim"},"about":{"value":"hi"}}"#) == true)
    _ = kim.ask("p", "edit_profile")
    #expect(kim.ask("p.2", "dismiss").last?.contains("dismissed") == true)
  }

  @Test
  func `friends are shown with their presence, removed and opened`() throws {
    _ = kim.open("friends", "f")
    _ = kim.ask("f", "add", #"{"name":"lee"}"#)
    #expect(
      kim.ask("f", "show", #"{"id":"lee"}"#).last?.contains(
        #""here":{"kind":"state","value":true}"#)
        == true)
    #expect(kim.ask("f", "show", #"{"id":"ann"}"#).first?.contains(#""code":1001"#) == true)
    #expect(kim.ask("f", "remove", #"{"id":"lee"}"#).last?.contains(#""op":"remove""#) == true)
  }

  @Test
  func `views close when another user logs in, and their intents end`() throws {
    chat.makeRoom("lobby", by: kim)
    let guest = chat.client("guest", uid: 1002)
    _ = call(guest, "users.log_in", #"{"token":"\#(try token(of: kim))"}"#)
    _ = guest.open("room", "r", #"{"room":1}"#)
    _ = guest.open("profile", "p")
    _ = guest.open("friends", "f")
    _ = guest.ask("p", "token")
    let lines = call(guest, "users.log_in", #"{"name":"guest"}"#)
    for view in ["r", "p.1", "p", "f"] {
      #expect(lines.contains(#""closed","params":{"view":"\#(view)","#), "\(view)")
    }
    #expect(guest.connection.views.all.isEmpty)
    // Changes to the previous user do not close the views of the current one.
    _ = guest.open("profile", "p")
    _ = call(kim, "users.revoke", "{}")
    #expect(guest.settle().isEmpty)
    #expect(guest.connection.views.all.count == 1)
  }

  @Test
  func `a token is shown when its hash is durable, and logging out closes the view`() throws {
    _ = kim.open("profile", "p")
    _ = kim.ask("p", "token")
    kim.send(#"{"id":2,"method":"intent","params":{"view":"p.1","name":"make"}}"#)
    #expect(kim.received().allSatisfy { !$0.contains("secret") })
    #expect(kim.settle().last?.contains(#""value":"1.secret-1""#) == true)
    #expect(kim.ask("p.1", "revoke_all").first?.contains(#""value":1"#) == true)
    let out = kim.ask("p", "log_out")
    #expect(out.filter { $0.contains(#""method":"closed""#) }.count == 2)
    #expect(kim.connection.views.all.isEmpty)
    #expect(kim.open("profile", "q", #"{"as":"kim"}"#).first?.contains(#""value":"kim""#) == true)
  }

  @Test
  func `whoever is not logged in logs in first, and then has the profile`() {
    let guest = chat.client("guest", uid: 1002)
    _ = call(guest, "users.log_out", "{}")
    let opened = guest.open("profile", "p").joined()
    #expect(opened.contains(#""binder":"login","style":"replace""#), "\(opened)")
    guest.send(
      #"{"id":3,"method":"intent","params":{"view":"p.1","name":"log_in","args":{"name":"guest"}}}"#
    )
    let lines = guest.settle().joined()
    #expect(lines.contains(#""binder":"profile","style":"replace""#), "\(lines)")
    #expect(lines.contains(#""name":{"kind":"state","value":"guest"}"#), "\(lines)")
    guest.send(#"{"id":4,"method":"users.log_out","params":{}}"#)
    let out = guest.settle().joined()
    #expect(out.contains(#""binder":"login""#), "\(out)")
  }
}
