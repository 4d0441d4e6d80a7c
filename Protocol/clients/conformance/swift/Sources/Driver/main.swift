// The driver of the Swift client; `run` describes its lines.

import BinderAsync
import Dispatch
import Glibc

func show(_ answer: JSONObject) {
  // Not print and fflush(nil), which waits for the thread that reads stdin.
  let line = Array((JSONValue.object(answer).text.text + "\n").utf8)
  _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func show(_ error: any Error) {
  var answer: JSONObject = ["message": .string("\(error)")]
  switch error as? ClientError {
  case .noDaemon: answer["type"] = .string("ConnectionFailed")
  case .lost(let reason):
    answer["type"] = .string("ConnectionLost")
    answer["reason"] = reason.map { .string($0) } ?? .null
  case .refused(let error):
    answer["type"] = .string("DaemonError")
    answer["name"] = .string(error.name.rawValue)
    answer["code"] = .number(JSONNumber(error.name.code))
    answer["data"] = .object(error.data)
  case .closed(let reason):
    answer["type"] = .string("SubscriptionClosed")
    answer["reason"] = .string(reason)
  case .outcomeUnknown: answer["type"] = .string("OutcomeUnknown")
  default: answer["type"] = .string("\(type(of: error))")
  }
  show(["error": .object(answer)])
}

func object(_ text: some StringProtocol) throws -> JSONObject {
  guard case .object(let object) = try JSONValue(parsing: String(text)) else { return [:] }
  return object
}

func calls(_ client: AsyncBinderClient) async {
  while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    do {
      switch words[0] {
      case "many":
        let params: JSONObject = ["name": .string(words[2])]
        try await withThrowingTaskGroup { group in
          for _ in 0..<(Int(words[1]) ?? 0) {
            group.addTask { try await client.command("cells.add", params) }
          }
          try await group.waitForAll()
        }
        show(["result": .object([:])])
      case "call": show(["result": .object(try await client.call(words[1], object(words[2])))])
      default: show(["result": .object(try await client.command(words[1], object(words[2])))])
      }
    } catch {
      show(error)
    }
  }
}

func watch(_ client: AsyncBinderClient) async throws {
  let arguments = CommandLine.arguments
  let given: GivenCursor? =
    arguments[4].isEmpty ? nil : try JSONText(parsing: arguments[4]).decoded()
  let subscription = try await client.subscribe(
    arguments[2], object(arguments[3]),
    resumingAfter: given.map { Cursor(epoch: $0.epoch, seq: $0.seq, part: $0.part ?? 0) })
  show(["ready": .bool(true)])
  while let line = readLine() {
    let words = line.split(separator: " ")
    if words[0] == "ack" {
      await subscription.acknowledge(upTo: UInt64(words[1]) ?? 0)
      continue
    }
    guard let update = try await subscription.next() else { return }
    var shown = update.members
    shown["type"] = .string(update.kind.rawValue)
    shown["source"] = .string(update.source)
    shown["cursor"] = update.cursor.map { .object($0.members) } ?? .null
    show(shown)
  }
}

struct Named: Decodable {
  let name: String
}

struct Adding: Decodable {
  let name: String
  let n: Int?
}

struct Shown: Decodable {
  let value: JSONValue
}

struct Refused: Decodable {
  let why: String
}

struct Boom: Error, CustomStringConvertible {
  let description = "boom"
}

/// Lets calls end, one for each `go`.
actor Releases {
  private var free = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func waitForOne() async {
    guard free == 0 else { return free -= 1 }
    await withCheckedContinuation { waiting.append($0) }
  }

  func add() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}

let view = """
  view "The stock."
  services/stock/n ~> n
  add -> stock.add name="n"
  """

func service(_ name: String, jobs: Int, _ releases: Releases) -> Service {
  let hold: @Sendable (ServiceCall, Named) async throws -> String = { call, held in
    show(["begun": .string(held.name)])
    await releases.waitForOne()
    let name = "held/\(held.name)"
    try call.set(name, to: try await call.get(name, or: 0) + 1)
    return held.name
  }
  return Service(
    name, doc: "A service of the driver.", sources: ["n": "A number."],
    views: name == "stock" ? ["stock": view] : [:], jobs: jobs
  )
  .method("echo") { (call, _: JSONValue) in
    JSONValue.object(["params": .object(call.params), "uid": .number(JSONNumber(call.uid))])
  }
  .method("add", "Adds to a number.", params: ["name": "Of which."]) { (call, add: Adding) in
    let count = try await call.get(add.name, or: 0) + (add.n ?? 1)
    try call.set(add.name, to: count)
    guard try await call.get(add.name, or: 0) == count else { throw Boom() }
    return count
  }
  .method("remove") { (call, named: Named) in call.remove(named.name) }
  .method("show") { (call, shown: Shown) in try call.publish("last", shown.value) }
  .method("refuse") { (call, refused: Refused) in
    try call.set("n", to: "is not recorded")
    throw Refusal(refused.why)
  }
  .method("fail") { (_, _: JSONValue) in throw Boom() }
  .method("wrong") { (_, _: JSONValue) in Wrong() }
  .method("long") { (_, _: JSONValue) in String(repeating: "x", count: 2 << 20) }
  .method("hold", body: hold)
  .method("order", isQueued: true, body: hold)
}

/// A type that says it is an integer, and is a text.
struct Wrong: Codable {
  init() {}
  init(from decoder: any Decoder) throws { _ = try Int(from: decoder) }
  func encode(to encoder: any Encoder) throws { try "text".encode(to: encoder) }
}

func provide(_ client: AsyncBinderClient) async throws {
  let releases = Releases()
  let (name, jobs) = (CommandLine.arguments[2], Int(CommandLine.arguments[3]) ?? 1)
  let provider = try await client.provide(service(name, jobs: jobs, releases))
  show(["ready": .bool(true)])
  // A blocked thread of the tasks would hold up others.
  DispatchQueue.global().async {
    while let line = readLine() {
      Task { if line == "go" { await releases.add() } else { await provider.close() } }
    }
    exit(0)
  }
  try await provider.wait()
  show(["ended": .bool(true)])
}

/// A cursor as the script writes it.
struct GivenCursor: Decodable {
  let epoch: String
  let seq: UInt64
  let part: Int?
}

extension Cursor {
  fileprivate var members: JSONObject {
    var members: JSONObject = ["epoch": .string(epoch), "seq": .number(JSONNumber(seq))]
    if part > 0 { members["part"] = .number(JSONNumber(part)) }
    return members
  }
}

do {
  let client = AsyncBinderClient(name: "driver")
  switch CommandLine.arguments[1] {
  case "calls": await calls(client)
  case "provide": try await provide(client)
  default: try await watch(client)
  }
} catch {
  show(error)
}
