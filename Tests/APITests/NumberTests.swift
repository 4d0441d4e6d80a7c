import Apps
import BinderTesting
import Connections
import EventSourcing
import Features
import JSON
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// Numbers at the limits of the parameters, in every place where a number is allowed.
@Suite(.leavesNothing)
struct NumberTests {
  private static let edges = [
    "0", "-0", "1", "-1", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "-9223372036854775808", "1e18", "1e19", "1e300", "1e308", "1e-300",
    "0.5",
    "0e-9223372036854775808", "1e-9223372036854775808", "0.1e-9223372036854775808",
    "0.0e-9223372036854775808", "1e-99999999999999999999", "1e99999999999999999999",
  ]

  /// Values for the other parameters of a call.
  private static let others: [String: [String]] = [
    "name": [#""x""#], "source": [#""cells/x""#, #""events""#], "value": ["1"],
    "expected": ["1"], "values": ["[1]"], "key": [#""k""#], "sub": [#""s""#],
    "at": ["0"], "from": ["0"], "to": ["0"], "room": ["1"], "id": ["1"], "as": [#""kim""#],
    "thread": ["1"], "post": ["1"], "feed": [#""f""#], "url": [#""http://b.example/""#],
    "token": [#""1.x""#],
  ]

  /// Methods whose id is not that of a message.
  private static let otherIDs = ["feeds.": #""f""#, "people.": "1"]

  let bench: Bench

  init() throws {
    let time = ManualTime()
    var end: () -> Void = {}
    var logins: (users: UsersService, chat: ChatService)?
    bench = try Bench(
      time: time,
      sessions: { host in
        let users = UsersService(in: host.library, secrets: NoSecrets())
        let (chat, presence) = (ChatService(in: host.library), PresenceService())
        logins = (users, chat)
        return SessionFactory(
          in: host.library, users: users, presence: presence, chat: chat, on: time
        )
        .session
      },
      services: { parts in
        let host = parts.host
        let (lists, maps) = (ListsService(in: host), MapsService(in: host))
        let (people, threads) = (PeopleService(in: host.library), ThreadsService(in: host.library))
        let feeds = FeedsService(
          in: host.library(on: time), web: FakeWeb(), reader: NoReader())
        end = { [unowned host] in #expect(throws: Never.self) { try feeds.end(in: host) } }
        guard let (users, chat) = logins else { preconditionFailure("no sessions") }
        return { catalog in
          bindLists(catalog, to: lists)
          bindMaps(catalog, to: maps)
          bindPeople(catalog, to: people)
          bindThreads(catalog, to: threads, parts.clients)
          bindFeeds(catalog, to: feeds)
          bindUsers(catalog, to: users, parts.clients)
          bindChat(catalog, to: chat, parts.clients)
          bindSearch(catalog, to: SearchService([], on: time))
        }
      })
    bench.endServices = end
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"cells.set","params":["x",1]}"#)
    _ = client.call(#"{"id":1,"method":"lists.append","params":["x",1]}"#)
    for (method, params) in [
      ("users.log_in", #"{"name":"kim"}"#), ("chat.create", #"{"name":"lobby"}"#),
      ("chat.send", #"{"room":1,"text":"x"}"#), ("threads.start", #"{"name":"x"}"#),
      ("threads.post", #"{"thread":1,"body":"x"}"#), ("people.create", #"{"name":"x"}"#),
      ("feeds.subscribe", #"{"url":"http://a.example/","id":"f"}"#),
    ] {
      _ = client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
    }
  }

  /// Returns values that fit a schema and contain the number.
  private func texts(_ schema: JSONValue, _ number: String) -> [String] {
    guard case .object(let schema) = schema else {
      // Any value: `from` of a subscription, an expected value.
      return [
        number, "[\(number)]", #"{"after":\#(number)}"#, #"{"last":\#(number)}"#,
        #"{"x":\#(number)}"#,
      ]
    }
    switch (schema["type"], schema["properties"]) {
    case (.string("object"), .object(let properties)?):
      return properties.members.flatMap { member in
        texts(member.value, number).map { #"{"\#(member.name)":\#($0)}"# }
      }
    case (.string("object"), _):
      return texts(schema["additionalProperties"] ?? .bool(true), number).map { #"{"k":\#($0)}"# }
    case (.string("array"), _):
      return texts(schema["items"] ?? .bool(true), number).map { "[\($0)]" }
    default: return [number]
    }
  }

  private func check(_ request: String) throws {
    let client = bench.connect()
    client.send(request)
    var answers = client.settle()
    // A wait is answered when it is cancelled, and so is the cancel.
    let isWaiting = answers.isEmpty
    if isWaiting { client.send(#"{"id":2,"method":"cancel","params":[1]}"#) }
    answers += client.received()
    #expect(answers.count >= (isWaiting ? 2 : 1), "\(request)")
    client.send(#"{"id":"still here","method":"ping"}"#)
    #expect(client.settle().contains { $0.contains("still here") }, "\(request)")
    client.connection.close(.shutdown)
  }

  @Test
  func `no number in any parameter of any method crashes the daemon`() throws {
    let document = try #require(bench.connect().result(#"{"id":1,"method":"rpc.discover"}"#))
      .resolved
    guard case .array(let methods)? = document["methods"] else {
      Issue.record("no methods")
      return
    }
    var count = 0
    for case .object(let method) in methods {
      guard case .string(let name)? = method["name"],
        case .array(let parameters)? = method["params"]
      else { continue }
      let all = parameters.compactMap { parameter -> (String, JSONValue, Bool)? in
        guard case .object(let parameter) = parameter, case .string(let name)? = parameter["name"]
        else { return nil }
        return (name, parameter["schema"] ?? .bool(true), parameter["required"] == .bool(true))
      }
      for (tried, schema, _) in all {
        let sources = all.contains { $0.0 == "source" } && tried != "source" ? 2 : 1
        for source in 0..<sources {
          let rest = all.filter { $0.2 && $0.0 != tried }.map { other, _, _ in
            if other == "id", let id = Self.otherIDs.first(where: { name.hasPrefix($0.key) }) {
              return #""id":\#(id.value),"#
            }
            let values = Self.others[other] ?? [#""x""#]
            return #""\#(other)":\#(values[min(source, values.count - 1)]),"#
          }.joined()
          for number in Self.edges {
            for text in texts(schema, number) {
              count += 1
              try check(
                #"{"id":1,"method":"\#(name)","params":{\#(rest)"\#(tried)":\#(text)}}"#)
            }
          }
        }
      }
    }
    #expect(count > 1000)
    for number in Self.edges {
      try check(
        #"{"id":1,"method":"cells.set","params":{"name":"x","value":1,"_meta":{"expect":{"cells/x":\#(number)}}}}"#
      )
      try check(#"{"id":\#(number),"method":"ping"}"#)
    }
  }

  /// The arguments of views and intents, with `#` for the number.
  private static let views: [(open: String, intents: [String])] = [
    (
      #""binder":"room","args":{"room":#}"#,
      [#""edit","args":{"id":#,"text":"x"}"#, #""remove","args":{"id":#}"#]
    ),
    (
      #""binder":"thread","args":{"id":#}"#,
      [
        #""edit","args":{"id":#,"body":"x"}"#, #""remove","args":{"id":#}"#,
        #""like","args":{"id":#}"#, #""unlike","args":{"id":#}"#,
      ]
    ),
    (#""binder":"person","args":{"id":#}"#, [#""show","args":{"id":#}"#]),
    (
      #""binder":"people""#,
      [
        #""remove","args":{"id":#}"#, #""open","args":{"id":#}"#,
      ]
    ),
    (#""binder":"threads""#, [#""open","args":{"id":#}"#, #""remove","args":{"id":#}"#]),
    (
      #""binder":"feed","args":{"id":"f","newest":#}"#,
      [#""mark_played","args":{"episode":#,"played":true}"#]
    ),
    (#""binder":"chat""#, []),
  ]

  @Test
  func `no number in a view or an intent crashes the daemon`() throws {
    for (open, intents) in Self.views {
      for number in Self.edges {
        let client = bench.connect()
        _ = client.call(#"{"id":1,"method":"users.log_in","params":{"name":"kim"}}"#)
        try check(
          #"{"id":1,"method":"open","params":{\#(open.replacing("#", with: number))}}"#)
        #expect(
          client.call(
            #"{"id":2,"method":"open","params":{"view":"v",\#(open.replacing("#", with: "1"))}}"#
          ).contains(#""result""#), "\(open)")
        for intent in intents {
          client.send(
            #"{"id":3,"method":"intent","params":{"view":"v","name":\#(intent.replacing("#", with: number))}}"#
          )
          let answer = client.settle().first
          #expect(answer?.contains(#""id":"#) == true, "\(intent) \(number)")
          if number == "1" { #expect(answer?.contains("-32602") == false, "\(intent)") }
        }
        client.connection.close(.shutdown)
      }
    }
  }

  @Test
  func `positions and intervals have a range`() throws {
    let client = bench.connect()
    func path(_ method: String, _ params: String) -> JSONValue? {
      let error = client.error(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
      return error?.name == .invalidParams ? error?.data["path"] : nil
    }
    for number in ["-1", "9223372036854775808", "18446744073709551615"] {
      for member in ["after", "before"] {
        #expect(
          path("history", #"{"source":"events","\#(member)":\#(number)}"#) == .string("/\(member)"))
      }
      #expect(
        path("history", #"{"source":"cells/x","at":{"seq":\#(number)}}"#) == .string("/at/seq"))
    }
    for number in ["-1", "86400001", "18446744073709551615"] {
      #expect(
        path("subscribe", #"{"source":"cells/x","min_interval_ms":\#(number)}"#)
          == .string("/min_interval_ms"))
    }
    #expect(
      client.result(
        #"{"id":1,"method":"subscribe","params":{"source":"cells/x","min_interval_ms":86400000}}"#)
        != nil)
  }

  @Test(arguments: ["0", "1", "9223372036854775807"])
  func `the last events before any position are returned`(before: String) throws {
    let page = bench.connect().result(
      #"{"id":1,"method":"history","params":{"source":"events","before":\#(before)}}"#)
    guard case .array(let items)? = page?["items"] else {
      Issue.record("no items")
      return
    }
    #expect(items.count == (before.count > 1 ? Int(bench.host.last) : 0))
  }

  @Test
  func `a number too small for a double is preserved, and differs from zero`() throws {
    let client = bench.connect()
    func call(_ method: String, _ params: String) -> String {
      client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
    }
    let small = "1e-99999999999999999999"
    #expect(call("cells.add", #"{"name":"x","by":\#(small)}"#).contains(#""name":"rejected""#))
    #expect(
      call("cells.compare_and_set", #"{"name":"x","expected":\#(small),"value":2}"#)
        .contains("value_differs"))
    #expect(bench.cells.ledger.value(of: "cells/x")?.text == "1")
    #expect(call("cells.set", #"["x",\#(small)]"#).contains(#""value":\#(small),"#))
    #expect(
      call("cells.compare_and_set", #"{"name":"x","expected":0,"value":2}"#)
        .contains("value_differs"), "it is not 0")
    #expect(call("get", #"["cells/x"]"#).contains(#""value":\#(small)"#))
  }
}

/// A reader that never answers.
private final class NoReader: FeedReader {
  func read(_ page: FeedPage) -> Signal<FeedDocument, FeedTextFault> { .never() }
}

private struct NoSecrets: Secrets {
  func make() -> SafeSignal<NewSecret?> { Signal(just: nil) }
  func isSecret(_ text: String) -> Bool { true }
  func matches(_ secret: String, hash: String) -> SafeSignal<Bool> { Signal(just: false) }
}
