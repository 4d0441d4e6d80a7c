import Configuration
import Model
import TestSupport
import Testing

/// Programs that act for users whom they have authenticated.
struct GatewayTests {
  private let text = """
    { "gateways": [{ "user": "alice", "names": { "b@example.org": "bob", "*": 61000 } }],
      "roles": [{ "name": "all", "users": ["*"], "methods": ["**"], "read": ["**"] }] }
    """

  @Test
  func `a gateway has a user of the machine for each name, or one for all others`() throws {
    let gateways = try configuration(text).roles.gateways
    #expect(gateways.contains(1001) && !gateways.contains(1002))
    #expect(gateways.user(named: "b@example.org", by: 1001) == 1002)
    #expect(gateways.user(named: "B@example.org", by: 1001) == 61000)
    #expect(gateways.user(named: "b@example.org", by: 1002) == nil)
    #expect(gateways.user(named: "*", by: 1001) == nil)
    let strict = try configuration(#"{"gateways":[{"user":7,"names":{"b":"bob"}}]}"#)
    #expect(strict.roles.gateways.user(named: "c", by: 7) == nil)
  }

  @Test
  func `a gateway has no role of the file, whatever its groups are`() throws {
    let gateway = try #require(try role(1001, [900], in: text))
    #expect(gateway.name == "gateway" && gateway.mayCall("act_as"))
    #expect(!gateway.mayCall("cells.set"))
    #expect(!gateway.mayRead("cells/lamp") && !gateway.mayWrite("cells/lamp"))
    #expect(try role(1002, in: text)?.name == "all")
    let member = Configuration(accounts).roles.entry(for: Peer(uid: 1, groups: [900]), owner: 500)
    #expect(member?.role.mayCall("act_as") == false)
  }

  @Test(arguments: [
    (#"{"gateways":[{"user":7}]}"#, "1:14: a gateway needs 'user' and 'names'"),
    (
      #"{"gateways":[{"user":7,"names":["a"]}]}"#,
      "1:32: 'names' is an object, with a user for each name"
    ),
    (#"{"gateways":[{"user":7,"names":{"a":8,"a":9}}]}"#, "1:39: the name 'a' occurs twice"),
    (#"{"gateways":[{"user":7,"names":{"a":0}}]}"#, "1:37: no gateway acts for root"),
    (
      #"{"gateways":[{"user":7,"names":{}},{"user":7,"names":{}}]}"#,
      "1:44: there are two gateways of this user"
    ),
  ])
  func `a wrong gateway is reported with its place`(text: String, fault: String) {
    #expect(faults(text) == [fault])
  }

  @Test
  func `an unknown user causes a warning and stands for nobody`() throws {
    let read = try configuration(
      #"{"gateways":[{"user":"eve","names":{}},{"user":7,"names":{"d":"dave"}}]}"#)
    #expect(
      read.warnings.map(\.description) == [
        "binder.conf:1:22: there is no user 'eve'; it matches nobody",
        "binder.conf:1:63: there is no user 'dave'; it matches nobody",
      ])
    #expect(read.roles.gateways.user(named: "d", by: 7) == nil)
  }

  @Test
  func `a gateway that is owner causes a warning`() throws {
    func warnings(_ user: Int) throws -> [String] {
      let text = #"{"gateways":[{"user":\#(user),"names":{}}]}"#
      let owned = Accounts(user: { _ in nil }, group: { _ in nil }, owner: 500)
      return try Configuration(parsing: Array(text.utf8), file: "f", owned).warnings
        .map { String($0.description.prefix { $0 != "," }) }
    }
    #expect(try warnings(0) == ["f:1:22: this gateway is root"])
    #expect(try warnings(500) == ["f:1:22: this gateway is the daemon's own user"])
    #expect(try warnings(501) == [])
  }

  @Test
  func `the gateways stay when a summary is hidden, and their change has a name`() throws {
    var read = try configuration(text)
    let same = read
    read.hideSummaries(["chat/rooms": "chat/rooms/*"], file: "f")
    #expect(read.roles.gateways.contains(1001))
    let other = try configuration(#"{"roles":[],"gateways":[]}"#)
    #expect(same.changes(in: same) == [])
    #expect(same.changes(in: other) == ["roles", "gateways"])
  }
}
