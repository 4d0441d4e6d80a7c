internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// Information about the daemon that the protocol methods return.
package struct ServerInfo {
  /// The name of the program: `binderd`.
  package let name: String
  package let version: String

  /// Returns the time in microseconds since 1970.
  package let now: () -> Int64

  /// Returns the milliseconds since the daemon started.
  package let uptime: () -> UInt64

  /// Returns the name of a user; `nil` if the system does not know it.
  let userName: (UInt32) -> String?

  /// The name of the machine; `nil` if it has none.
  let host: String?

  package init(
    name: String, version: String, host: String? = nil, now: @escaping () -> Int64,
    uptime: @escaping () -> UInt64, userName: @escaping (UInt32) -> String?
  ) {
    (self.name, self.version) = (name, version)
    self.host = host
    self.now = now
    self.uptime = uptime
    self.userName = userName
  }
}

/// Offers the methods that every connection has, such as `hello`, `ping`, `sync` and `describe`.
package func bindProtocol<Stats: Codable>(
  _ catalog: Catalog, _ server: ServerInfo, stats: @escaping () -> Stats
) {
  let host = catalog.host

  bindHello(catalog, server)
  bindWhoAmI(catalog, server)
  bindAtomic(catalog)
  bindCancel(catalog)

  let pong = Pong(server, host)
  catalog.query(
    "ping", "Answers at once.", NoParameters.self,
    .members(.init("last", .natural), .init("time", .string), .init("uptime_ms", .natural))
  ) { _, call, _ in
    pong.update(in: call.connection.context.turn)
    call.answer { pong.write(to: &$0) }
  }

  catalog.query(
    "sync", "Answers once every frame up to a position has been sent.", Sync.self,
    .members(.init("seq", .natural), .optional("settled", .bool)), kind: .late
  ) { context, call, sync in
    let position = sync.seq ?? host.last
    guard position <= host.last else {
      return call.refuse(.seqFuture(position, last: host.last))
    }
    guard let call = call.later() else { return }
    guard sync.settle == true, let follower = context.catalog.commandParts.effects else {
      return call.connection.sync(call, at: position)
    }
    call.keep(
      follower.follow(nil, readable: context.role.mayRead) { effects in
        call.answer {
          $0.object {
            $0.member("seq", host.durable)
            $0.member("settled", effects.settled)
          }
        }
      })
  }

  catalog.query(
    "stats", "Returns the daemon's counters, its limits and their use.",
    NoParameters.self,
    .members(
      .init("stats", Shape(of: Stats.self)), .init("limits", .map(.natural)),
      .init("usage", .map(.natural)))
  ) { context, call, _ in
    let stats = try? context.catalog.encoder.text(stats())
    call.answer { buffer in
      var usage = call.connection.usage
      usage[LimitName.state.rawValue] = .number(JSONNumber(host.stateBytes))
      usage[LimitName.statePerUser.rawValue] = .number(
        JSONNumber(host.stateBytes(of: call.connection.peer.uid)))
      buffer.object {
        $0.member("stats", stats ?? .null)
        $0.member("limits", JSONValue.object(call.connection.shownLimits).text)
        $0.member("usage", JSONValue.object(usage).text)
      }
    }
  }

  bindDescriptions(catalog, server)
}

/// The result of `ping`, which all pings of a turn share.
private final class Pong {
  private let server: ServerInfo
  private let host: ServiceHost
  private var present = PresentTime()
  private var text = ByteBuffer()
  private var turn = UInt64.max
  private var durable: UInt64 = 0

  init(_ server: ServerInfo, _ host: ServiceHost) { (self.server, self.host) = (server, host) }

  /// Writes the result again, unless it is of this turn.
  func update(in turn: UInt64) {
    guard turn != self.turn || host.durable != durable else { return }
    (self.turn, durable) = (turn, host.durable)
    text.removeAll(keepingCapacity: 128)
    text.object {
      $0.member("last", durable)
      $0.key("time")
      $0.append(UInt8(ascii: "\""))
      present.write(Timestamp(microseconds: server.now()), to: &$0)
      $0.append(UInt8(ascii: "\""))
      $0.member("uptime_ms", server.uptime())
    }
  }

  func write(to buffer: inout ByteBuffer) { buffer.append(text) }
}

/// Offers `hello`, and restores what a client has said with it.
private func bindHello(_ catalog: Catalog, _ server: ServerInfo) {
  catalog.query(
    "hello", "Names the client and agrees on the protocol; optional, at most once.", Hello.self,
    .members(
      .init("protocol", .natural),
      .init("server", .object([.init("name", .string), .init("version", .string)])),
      .init("conn", .natural), .init("epoch", .string), .init("first", .natural),
      .init("last", .natural), .init("capabilities", .object([.init("items", .bool)])),
      .init("limits", .map(.natural)), .init("peer", .object(Peer.shape))),
    unknownParameters: .ignored
  ) { context, call, hello throws(WireError) in
    try greet(call.connection, hello)
    keepGreeting(of: call.connection, catalog)
    call.answer { writeHello(context, server, &$0) }
  }
  catalog.restore(.hello) { context, items, _ throws(CannotRestore) in
    for item in items {
      guard let hello: HandoverHello = try? catalog.decoder.decode(from: item.text) else {
        throw CannotRestore(unreadable: item)
      }
      hello.apply(to: context.connection)
      keepGreeting(of: context.connection, catalog)
    }
  }
}

/// Offers the descriptions of methods and sources.
private func bindDescriptions(_ catalog: Catalog, _ server: ServerInfo) {
  catalog.query(
    "describe", "Describes all services, one, a method, or a source.", Describe.self,
    .either(Shape.descriptions)
  ) { context, call, describe in
    guard let path = describe.path else {
      let overview = try context.inParts(call, "describe") {
        Overview(of: context.rights, room: call.room)
      }
      return call.answer { overview.write(to: &$0) }
    }
    let description = try context.rights.describe(path)
    call.answer { JSONValue.object(description).write(to: &$0) }
  }

  catalog.query(
    "rpc.discover", "The methods as an OpenRPC document.", Discover.self,
    .members(
      .init("openrpc", .string),
      .init("info", .object([.init("title", .string), .init("version", .string)])),
      .init("methods", .array(.map(.any))), .init("components", .map(.any)))
  ) { context, call, discover in
    let document = try context.inParts(call, "rpc.discover \(discover.service ?? "")") {
      try OpenRPCDocument(
        of: server, discover.service, context.rights, room: call.room)
    }
    call.answer { document.write(to: &$0) }
  }
}

/// The maximum size of a stored client name in bytes.
private let maxClientNameBytes = 64

private func greet(_ connection: Connection, _ hello: Hello) throws(WireError) {
  guard connection.clientName == nil else {
    throw .invalidRequest("hello was already sent")
  }
  guard hello.protocol?.contains(1) ?? true else {
    throw WireError(
      .unsupported, "this daemon speaks protocol 1",
      ["supported": .array([.number(JSONNumber(1))])])
  }
  let words = [hello.client?.name, hello.client?.version].compactMap(\.self).filter { !$0.isEmpty }
  connection.clientName = words.joined(separator: " ").cut(toBytes: maxClientNameBytes)
  connection.takesItems = hello.optional?.contains("items") ?? false
  if let line = hello.limits?.line {
    connection.lineOut = min(max(line, Limits.leastLineOut), connection.limits.lineOutMax)
  }
}

/// The choices of `hello`, which survive a restart.
private struct HandoverHello: Codable {
  let client: String
  let items: Bool
  let line: Int

  init?(of connection: Connection) {
    guard let name = connection.clientName else { return nil }
    (client, items, line) = (name, connection.takesItems, connection.lineOut)
  }

  func apply(to connection: Connection) {
    connection.clientName = client
    connection.takesItems = items
    connection.lineOut = min(max(line, Limits.leastLineOut), connection.limits.lineOutMax)
  }
}

private func keepGreeting(of connection: Connection, _ catalog: Catalog) {
  guard connection.isKept, let text = try? catalog.encoder.text(HandoverHello(of: connection))
  else {
    return
  }
  connection.keep(.hello, "", text)
}

private func writeHello(
  _ context: CallContext, _ server: ServerInfo,
  _ buffer: inout ByteBuffer
) {
  let (connection, host) = (context.connection, context.host)
  let hello: JSONObject = [
    "protocol": .number(JSONNumber(1)),
    "server": .object(["name": .string(server.name), "version": .string(server.version)]),
    "conn": .number(JSONNumber(connection.id)),
    "epoch": .string(host.epoch),
    "first": .number(JSONNumber(host.first)),
    "last": .number(JSONNumber(host.durable)),
    "capabilities": .object(["items": .bool(true)]),
    "limits": .object(connection.shownLimits),
    "peer": .object(connection.peer.shown(as: context.role)),
  ]
  JSONValue.object(hello).write(to: &buffer)
}

/// The parameters of `hello`; unknown members are ignored.
private struct Hello: Decodable {
  struct Client: Decodable {
    let name: String?
    let version: String?
  }

  struct Limits: Decodable {
    let line: Int?
  }

  let `protocol`: [Int]?
  let client: Client?
  let optional: [String]?
  let limits: Limits?
}

private struct Describe: DocumentedParameters {
  let path: String?

  static let docs = [
    "path": "A service, a method or a source, for example cells, cells.set or cells/lamp."
  ]
}

private struct Discover: DocumentedParameters {
  let service: String?

  static let docs = ["service": "The methods of this service only; left out: all methods."]
}

extension Connection {
  /// The limits that apply to this client.
  fileprivate var shownLimits: JSONObject {
    var limits = limits
    limits.lineOut = lineOut
    var shown = JSONObject()
    for name in LimitName.allCases { shown[name.rawValue] = .number(JSONNumber(limits[name])) }
    return shown
  }

  /// The usage of each counted limit, by this client or by all clients.
  fileprivate var usage: JSONObject {
    let counts: [(LimitName, Int)] = [
      (.subscriptions, subscriptions.count), (.views, views.all.count), (.bindings, bindingCount),
      (.inFlight, lateCount), (.allInFlight, context.counts.lateCalls), (.held, heldCount),
      (.outputSoft, outputBytes), (.outputHard, outputBytes),
      (.connections, context.counts.connections),
      (.connectionsPerUser, userConnectionCount), (.memoryPerUser, userItemBytes),
    ]
    var usage = JSONObject()
    for (name, count) in counts { usage[name.rawValue] = .number(JSONNumber(count)) }
    return usage
  }
}

private struct Sync: DocumentedParameters {
  let seq: UInt64?
  let settle: Bool?

  static let docs = [
    "seq": "The position; left out, the last one assigned.",
    "settle": "Whether to wait, at most 5 seconds, until bindings have passed on all changes.",
  ]
}
