import Configuration
import Model
import Testing
import Wire

struct RoleTests {
  private let text = """
    {"roles": [
      {"name": "operator", "users": ["alice", 1234], "methods": ["**"], "read": ["**"], "write": ["**"]},
      {"name": "panel", "users": ["carol"], "groups": ["adm"],
       "methods": {"allow": ["cells.*", "stats"], "deny": ["cells.remove", "bind"]},
       "read": {"allow": ["cells/**", "lists/a"], "deny": ["cells/secret/**"]},
       "write": ["cells/lamp"]},
      {"name": "guest", "users": ["*"], "read": ["cells/lamp"]}
    ]}
    """

  @Test
  func `a client gets the first role that names its user, number or group`()
    throws
  {
    #expect(try role(1001, [4], in: text)?.name == "operator")
    #expect(try role(1234, in: text)?.name == "operator")
    #expect(try role(1003, in: text)?.name == "panel")
    #expect(try role(1002, [100, 4], in: text)?.name == "panel")
    #expect(try role(1002, [100], in: text)?.name == "guest")
  }

  @Test
  func `the user of the daemon and root may do everything with any configuration`() throws {
    let nobody = #"{"roles": [{"name":"guest","users":[0,500]}]}"#
    for uid: UInt32 in [0, 500] {
      let owner = try #require(try role(uid, in: nobody))
      #expect(owner.name == "owner")
      #expect(owner.mayCall("reload") && owner.mayRead("a/b") && owner.mayWrite("a/b"))
    }
  }

  @Test
  func `without a file only the group binder may connect and use the services`() throws {
    let user = try #require(try role(1001, [900], in: "{}"))
    #expect(user.name == "user")
    #expect(user.mayCall("cells.set") && user.mayRead("a") && user.mayWrite("a"))
    for method in ["reload", "acl", "journal.compact"] { #expect(!user.mayCall(method)) }
    #expect(try role(1001, [4], in: "{}") == nil)
    #expect(try role(1001, [900], in: #"{"roles": []}"#) == nil)
    let without = Configuration(Accounts(user: { _ in nil }, group: { _ in nil }))
    #expect(without.roles.entry(for: Peer(uid: 1001, groups: [900]), owner: 500) == nil)
  }

  @Test
  func `everything is denied by default, and a deny rule wins over an allow rule`() throws {
    let panel = try #require(try role(1003, in: text))
    #expect(panel.mayCall("cells.set") && panel.mayCall("stats"))
    #expect(!panel.mayCall("cells.remove") && !panel.mayCall("lists.append"))
    #expect(panel.mayRead("cells/a/b") && panel.mayRead("lists/a"))
    #expect(!panel.mayRead("cells/secret/key") && !panel.mayRead("lists/b"))
    #expect(panel.mayWrite("cells/lamp") && !panel.mayWrite("cells/door"))
  }

  @Test
  func `always-allowed methods cannot be denied, methods bound by sources can`() throws {
    let panel = try #require(try role(1003, in: text))
    let guest = try #require(try role(1002, in: text))
    for method in Role.alwaysAllowed { #expect(panel.mayCall(method) && guest.mayCall(method)) }
    for method in Role.boundBySources { #expect(guest.mayCall(method)) }
    #expect(!panel.mayCall("bind"))
    #expect(!guest.mayCall("stats") && !guest.mayCall("reload"))
  }

  @Test(arguments: [
    (#"["**"]"#, true), (#"["todo/**"]"#, true), (#"["todo/*"]"#, false), (#"["todo"]"#, false),
    (#"{"allow":["**"],"deny":["todo/secret"]}"#, false),
    (#"{"allow":["**"],"deny":["*/secret"]}"#, false),
    (#"{"allow":["**"],"deny":["cells/secret"]}"#, true),
  ])
  func `the events of a service need permission to read all its streams`(
    rules: String, isRead: Bool
  ) throws {
    let text = #"{"roles":[{"name":"a","users":["*"],"read":\#(rules),"write":\#(rules)}]}"#
    let role = try #require(try role(1, in: text))
    #expect(role.mayReadEvents(of: "todo") == isRead)
    #expect(role.mayRecordEvents(in: "todo") == isRead)
  }

  @Test
  func `a verdict names the rule and its line`() throws {
    let panel = try #require(try role(1003, in: text))
    guard case .denied(let rule) = panel.methods.verdict(on: "cells.remove") else {
      Issue.record("it is allowed")
      return
    }
    #expect(rule.pattern.text == "cells.remove")
    #expect(rule.line == 4)
    #expect(panel.read.verdict(on: "maps/a") == .unnamed)
  }

  @Test
  func `every role may read the events; a client without a role may not`() throws {
    let roles = try configuration(text).roles
    let guest = Peer(uid: 1002, groups: [100])
    let decision = roles.decision(on: .read("events"), by: guest, owner: 500)
    #expect(decision.isAllowed && decision.role == "guest" && decision.line == 0)
    #expect(!roles.decision(on: .write("events"), by: guest, owner: 500).isAllowed)
    #expect(!roles.decision(on: .read("cells/door"), by: guest, owner: 500).isAllowed)
    #expect(!Roles([]).decision(on: .read("events"), by: guest, owner: 500).isAllowed)
  }

  @Test
  func `unknown users and groups cause a warning and match no client`() throws {
    let read = try configuration(
      """
      {"roles": [{"name": "a", "users": ["dave"],
                  "groups": ["nogroup"], "read": ["**"]}]}
      """)
    #expect(
      read.warnings.map(\.description) == [
        "binder.conf:1:36: there is no user 'dave'; it matches nobody",
        "binder.conf:2:24: there is no group 'nogroup'; it matches nobody",
      ])
    #expect(read.roles.entry(for: Peer(uid: 1, groups: [1]), owner: 500) == nil)
  }

  @Test
  func `a role after a role for everybody causes a warning`() throws {
    let read = try configuration(
      """
      {"roles": [{"name": "a", "users": ["*"], "read": ["**"]},
                 {"name": "b", "users": [7], "read": ["**"]}]}
      """)
    #expect(
      read.warnings.map(\.description) == [
        "binder.conf:2:12: this role is never used: 'a' before it is for everybody"
      ])
  }

  @Test
  func `roles with the same rules in other lines are equal`() throws {
    let below = "\n\n" + text
    #expect(try role(1003, in: text) == role(1003, in: below))
    #expect(try role(1003, in: text) != role(1001, in: text))
  }

  @Test
  func `a role can set limits of one user and of one connection, and no others`() throws {
    func text(_ limits: String) -> String {
      #"{"roles":[{"name":"r","users":["*"],"limits":{\#(limits)}}]}"#
    }
    let guest = try role(7, in: text(#""state_user":2000000,"subs":3"#))
    #expect(guest?.limits == [.statePerUser: 2_000_000, .subscriptions: 3])
    #expect(try role(0, in: text(#""subs":3"#))?.limits == [:], "the owner has none")
    let global = faults(text(#""state":2000000"#))
    #expect(global.count == 1 && global[0].contains("'state'"), "\(global)")
    #expect(faults(text(#""state_user":1"#)).count == 1)
    #expect(LimitName.ofRoles.allSatisfy { $0.row.path != nil })
    #expect(try configuration(text("")).roles != configuration(text(#""subs":3"#)).roles)
  }

  @Test
  func `a summary source needs permission to read all its sources`() throws {
    func read(_ rules: String) throws -> (Bool, [String]) {
      var made = try configuration(
        #"{"roles":[{"name":"r","users":["*"],"read":\#(rules)}]}"#)
      made.hideSummaries(["chat/rooms": "chat/rooms/*"], file: "f")
      let role = try #require(made.roles.entries.first?.role)
      return (role.mayRead("chat/rooms"), made.warnings.map { "\($0)" })
    }
    for rules in [
      #"["**"]"#, #"["chat/**"]"#, #"["chat/rooms", "chat/rooms/*"]"#,
      #"{"allow":["**"],"deny":["chat/rooms/3/messages"]}"#,
    ] {
      let (may, warnings) = try read(rules)
      #expect(may && warnings.isEmpty, "\(rules)")
    }
    for rules in [
      #"["chat/rooms"]"#, #"["chat/rooms", "chat/rooms/1"]"#, #"["chat/*"]"#,
      #"{"allow":["**"],"deny":["chat/rooms/3"]}"#,
    ] {
      let (may, warnings) = try read(rules)
      #expect(!may, "\(rules)")
      #expect(
        warnings == [
          "f:1:1: role 'r' may not read all of chat/rooms/*, and so not chat/rooms, which summarizes them"
        ])
    }
    #expect(try read(#"["cells/**"]"#).1.isEmpty, "nobody is warned of what nobody has asked for")
  }
}
