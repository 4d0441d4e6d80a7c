import API
import Apps
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct PeopleTests {
  /// Returns a bench with two people, Kim and Lee.
  private static func bench() throws -> Bench {
    let bench = try Bench { catalog, parts in
      let host = parts.host
      bindPeople(catalog, to: PeopleService(in: host.library))
    }
    let client = bench.connect()
    _ = client.call(
      ##"{"id":1,"method":"people.create","params":{"name":"Kim","color":"#1E90FF"}}"##)
    _ = client.call(#"{"id":2,"method":"people.create","params":["Lee"]}"#)
    return bench
  }

  private static func intent(_ name: String, _ args: String = "{}", id: Int = 9) -> String {
    #"{"id":\#(id),"method":"intent","params":{"view":"p","name":"\#(name)","args":\#(args)}}"#
  }

  private static let open =
    #"{"id":1,"method":"open","params":{"binder":"person","view":"p","args":{"id":1}}}"#

  private static func next(_ seq: Int, _ props: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"view":"p","seq":\#(seq),"props":{\#(props)}}}"#
  }

  /// Returns the change that adds a former name to a view.
  private static func formerly(_ name: String) -> String {
    #""former_names":{"changes":[{"op":"insert","at":0,"value":"\#(name)"}]}"#
  }

  @Test
  func `people are read, observed and changed`() throws {
    let client = try Self.bench().connect()
    #expect(
      client.call(#"{"id":1,"method":"people.list"}"#)
        == ##"{"jsonrpc":"2.0","id":1,"result":{"value":[{"id":1,"name":"Kim","color":"#1e90ff"},"##
        + ##"{"id":2,"name":"Lee","color":"#808080"}]}}"##)
    _ = client.call(#"{"id":2,"method":"subscribe","params":{"source":"people/1/name","sub":"n"}}"#)
    client.send(#"{"id":3,"method":"set","params":["people/1/name","Max"]}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":3,"result":{"value":"Max","seq":3,"version":2}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"sub":"n","seq":3,"value":"Max"}}"#,
      ])
    #expect(
      client.call(#"{"id":4,"method":"people.reverse_name","params":[1]}"#).contains(
        #""value":"xaM""#))
    #expect(
      client.error(#"{"id":5,"method":"set","params":["people/1",{}]}"#)?.data["reason"]
        == .string("not_writable"))
    #expect(
      client.error(#"{"id":6,"method":"set","params":["people/1/color","red"]}"#)?.name
        == .invalidParams)
    #expect(client.error(#"{"id":7,"method":"people.remove","params":[7]}"#)?.name == .notFound)
    let described = client.call(#"{"id":8,"method":"describe","params":["people"]}"#)
    for text in ["The person's name.", "Reverses a name; returns the new one.", "A hex code"] {
      #expect(described.contains(text), "\(text)")
    }
  }

  @Test
  func `the name of a person can be bound to another source`() throws {
    let bench = try Bench { catalog, parts in
      let host = parts.host
      bindPeople(catalog, to: PeopleService(in: host.library))
      bindBindings(catalog, to: BindingsService(in: host), parts.live)
    }
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"people.create","params":["Kim"]}"#)
    _ = client.call(#"{"id":2,"method":"bind","params":["people/1/name <> cells/kim"]}"#)
    #expect(client.call(#"{"id":3,"method":"get","params":["cells/kim"]}"#).contains(#""Kim""#))
    _ = client.call(#"{"id":4,"method":"cells.set","params":["kim","Lee"]}"#)
    #expect(client.call(#"{"id":5,"method":"get","params":["people/1/name"]}"#).contains(#""Lee""#))
  }

  @Test
  func `the view of a person shows typed text when it is durable`() throws {
    let bench = try Self.bench()
    let (client, other) = (bench.connect(), bench.connect())
    #expect(
      client.call(Self.open).contains(
        ##""props":{"name":{"kind":"state","value":"Kim"},"color":{"kind":"state","##
          + ##""value":"#1e90ff"},"id":{"kind":"state","hint":"hidden","value":"1"},"##
          + ##""former_names":{"kind":"list","value":[]}}"##
      ))
    client.send(Self.intent("rename", #"{"name":"Max"}"#))
    #expect(client.received() == [], "nothing is durable yet")
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":9,"result":{"seq":3,"version":2}}"#,
        Self.next(3, #""name":{"value":"Max"},"# + Self.formerly("Kim")),
      ])
    client.send(Self.intent("color", ##"{"color":"#FFF"}"##))
    #expect(client.settle().last == Self.next(4, ##""color":{"value":"#ffffff"}"##))
    _ = other.call(##"{"id":1,"method":"people.color","params":[1,"#000000"]}"##)
    #expect(client.settle().last == Self.next(5, ##""color":{"value":"#000000"}"##))
    _ = client.call(Self.intent("reverse_name"))
    #expect(
      other.call(#"{"id":2,"method":"get","params":["people/1/name"]}"#).contains(#""xaM""#))
  }

  @Test
  func `a colour is shown in its normal form, also to its author`() throws {
    let bench = try Self.bench()
    let clients = [bench.connect(), bench.connect()]
    for client in clients { _ = client.call(Self.open) }
    for (typed, shown) in [("#0F0", "#00ff00"), ("#ABCDEF", "#abcdef"), ("#123456", "#123456")] {
      clients[0].send(Self.intent("color", #"{"color":"\#(typed)"}"#))
      let seq = bench.host.last
      let next = Self.next(Int(seq), #""color":{"value":"\#(shown)"}"#)
      #expect(clients[0].settle().dropFirst() == [next])
      #expect(clients[1].settle() == [next])
      // An equal value in another form is no change.
      clients[0].send(Self.intent("color", #"{"color":"\#(shown.uppercased())"}"#))
      #expect(clients[0].settle().count == 1)
      #expect(bench.host.last == seq)
    }
  }

  @Test
  func `a refusal of the service is the answer, and the view stays unchanged`() throws {
    let bench = try Self.bench()
    let client = bench.connect()
    _ = client.call(Self.open)
    client.send(Self.intent("rename", #"{"name":""}"#))
    let lines = client.settle()
    #expect(lines.first?.contains(#""error":{"code":-32602"#) == true)
    #expect(lines.first?.contains("1 to 100 characters") == true)
    #expect(lines.count == 1, "the view shows what it showed")
    #expect(client.error(Self.intent("color", #"{"color":"red"}"#))?.name == .invalidParams)
    #expect(bench.host.last == 2)
    client.send(Self.intent("rename", #"{"name":"Max"}"#))
    #expect(
      client.settle().last == Self.next(3, #""name":{"value":"Max"},"# + Self.formerly("Kim")))
  }

  @Test
  func `a refused change keeps the former names`() throws {
    let client = try Self.bench().connect()
    _ = client.call(Self.open)
    for name in ["A", "B", "C"] {
      _ = client.call(Self.intent("rename", #"{"name":"\#(name)"}"#))
    }
    client.send(Self.intent("color", #"{"color":"zzz"}"#))
    let lines = client.settle()
    #expect(lines.first?.contains(#""error""#) == true)
    #expect(lines.count == 1, "\(lines)")
    client.send(Self.intent("rename", #"{"name":"D"}"#))
    #expect(client.settle().contains { $0.contains(Self.formerly("C")) })
  }

  @Test
  func `a rolled-back change is not shown`() throws {
    let bench = try Self.bench()
    let client = bench.connect()
    _ = client.call(Self.open)
    let conflict =
      #"{"id":3,"method":"intent","params":{"view":"p","name":"rename","args":{"name":"Max"},"#
      + #""_meta":{"expect":{"people/1":7}}}}"#
    #expect(client.error(conflict)?.name == .conflict)
    client.send(Self.intent("rename", #"{"name":"Max"}"#))
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    let lines = client.settle()
    #expect(lines.first?.contains(#""error""#) == true)
    #expect(!lines.contains { $0.contains(#""Max""#) }, "\(lines)")
  }

  @Test
  func `a view that switches to another person follows only that one`() throws {
    let client = try Self.bench().connect()
    _ = client.call(Self.open)
    client.send(Self.intent("show", #"{"id":2}"#))
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        Self.next(
          2, ##""name":{"value":"Lee"},"color":{"value":"#808080"},"id":{"value":"2"}"##),
      ])
    client.send(#"{"id":2,"method":"people.rename","params":[1,"Nobody looks"]}"#)
    #expect(client.settle().count == 1)
    client.send(Self.intent("rename", #"{"name":"Leo"}"#))
    #expect(
      client.settle().last == Self.next(4, #""name":{"value":"Leo"},"# + Self.formerly("Lee")))
    #expect(
      client.call(#"{"id":3,"method":"get","params":["people/1/name"]}"#).contains("Nobody looks"))
    #expect(client.error(Self.intent("show", #"{"id":7}"#))?.name == .notFound)
  }

  @Test(arguments: [#"show {"id":2}"#, #"rename {"name":""}"#, #"color {"color":"red"}"#])
  func `no change is shown before it is durable`(before: String) throws {
    let client = try Self.bench().connect()
    _ = client.call(Self.open)
    let parts = before.split(separator: " ", maxSplits: 1).map(String.init)
    _ = client.call(Self.intent(parts[0], parts[1]))
    client.send(Self.intent("rename", #"{"name":"Leo"}"#))
    #expect(client.received() == [])
    let name = parts[0] == "show" ? "Lee" : "Kim"
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":9,"result":{"seq":3,"version":2}}"#,
        Self.next(3, #""name":{"value":"Leo"},"# + Self.formerly(name)),
      ])
  }

  @Test
  func `a new name and the former one arrive in one frame`() throws {
    let bench = try Self.bench()
    let (client, other) = (bench.connect(), bench.connect())
    for client in [client, other] { _ = client.call(Self.open) }
    for (seq, names) in [(3, ["Kim", "A"]), (4, ["A", "B"])] {
      client.send(Self.intent("rename", #"{"name":"\#(names[1])"}"#))
      bench.store.commit()  // and the journal is not read
      let frame = Self.next(seq, #""name":{"value":"\#(names[1])"},"# + Self.formerly(names[0]))
      #expect(client.received().dropFirst() == [frame])
      #expect(other.received() == [frame])
      _ = client.call(Self.intent("color", #"{"color":"red"}"#))
    }
    _ = client.call(#"{"id":3,"method":"close","params":{"view":"p"}}"#)
    _ = client.call(Self.open)
    client.send(Self.intent("rename", #"{"name":"C"}"#))
    #expect(client.settle().last?.contains(#""value":"B""#) == true, "as it is read")
  }

  @Test
  func `a view ends with its person, and its bindings end`() throws {
    let nodes = LiveNodes()
    try LiveNodes.$counter.withValue(nodes) {
      let bench = try Self.bench()
      let client = bench.connect()
      // The first view of a client creates its session, which stays.
      _ = client.call(Self.open)
      _ = client.call(#"{"id":9,"method":"close","params":{"view":"p"}}"#)
      let before = nodes.counts
      _ = client.call(Self.open)
      #expect(nodes.counts != before)
      client.send(Self.intent("remove"))
      #expect(client.settle().last?.contains(#""closed","params":{"view":"p""#) == true)
      #expect(nodes.counts == before)
    }
  }

  @Test
  func `the list shows all people, and opens one`() throws {
    let client = try Self.bench().connect()
    let opened = client.call(#"{"id":1,"method":"open","params":{"binder":"people","view":"p"}}"#)
    #expect(opened.contains(##""value":[{"id":1,"name":"Kim","color":"#1e90ff"},"##))
    #expect(opened.contains(#""open":{"params":{"id":"integer"},"opens":"person","main":true}"#))
    client.send(Self.intent("open", #"{"id":2}"#))
    #expect(client.settle().last?.contains(#""name":{"kind":"state","value":"Lee"}"#) == true)
    #expect(client.error(Self.intent("open", #"{"id":3}"#))?.name == .notFound)
    #expect(client.connection.views.all.count == 2)
  }

  @Test
  func `a role that may not read one person cannot open it, however the id is written`() throws {
    let all = try #require(Pattern("**"))
    let one = try #require(Pattern("people/1"))
    let read = Rules(allow: [Rule(all)], deny: [Rule(one)])
    let client = try Self.bench().connect(
      as: Role(name: "narrow", methods: Rules(allow: [Rule(all)]), read: read, write: Rules()))
    for id in ["1", "1.0", "1e0"] {
      let open =
        #"{"id":1,"method":"open","params":{"binder":"person","view":"p","args":{"id":\#(id)}}}"#
      #expect(!client.call(open).contains("Kim"), "\(id)")
    }
  }

  @Test
  func `the order of the lines does not change the frames`() throws {
    for view in [#""person","args":{"id":1}"#, #""people""#] {
      try expectSameInAnyOrder({ try Self.bench() }) { client in
        [
          client.call(#"{"id":1,"method":"open","params":{"view":"p","binder":\#(view)}}"#),
          client.call(#"{"id":2,"method":"people.rename","params":[1,"Max"]}"#),
          client.call(##"{"id":3,"method":"people.color","params":[1,"#123456"]}"##),
          client.call(#"{"id":4,"method":"people.remove","params":[1]}"#),
        ]
      }
    }
  }
}
