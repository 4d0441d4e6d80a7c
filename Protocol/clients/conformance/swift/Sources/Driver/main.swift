// The driver of the Swift client; `run` describes its lines.

import BinderAsync
import Glibc

func show(_ answer: JSONObject) {
  print(JSONValue.object(answer).text)
  fflush(nil)
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
  if CommandLine.arguments[1] == "calls" { await calls(client) } else { try await watch(client) }
} catch {
  show(error)
}
