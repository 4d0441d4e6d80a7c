package import JSON
internal import Wire

/// The daemon's answer to `hello`.
public struct Greeting: Decodable, Equatable, Sendable {
  /// The name and version of the server.
  public struct Server: Decodable, Equatable, Sendable {
    /// The server's name, `"binderd"`.
    public let name: String
    /// The server's version.
    public let version: String
  }

  /// The server that answered.
  public let server: Server

  /// The identity of the journal.
  public let epoch: String

  /// The first position that the journal still holds.
  public let first: UInt64

  /// The last position of the journal.
  public let last: UInt64
}

/// A message from the daemon.
struct Incoming: Decodable {
  let id: JSONText?
  let method: String?
  let result: JSONText?
  let error: JSONText?
  let params: Params?

  /// The members of all kinds of notifications.
  struct Params: Decodable {
    let sub: Handle?
    let seq: UInt64?
    let source: String?
    let value: JSONText?
    let gone: Bool?
    let changes: JSONText?
    let part: Part?
    let more: Bool?
    let skipped: UInt64?
    let event: JSONText?
    let error: JSONText?
    let state: String?
    let missed: Missed?
    let reason: String?
    let reconnectMilliseconds: UInt64?

    private enum CodingKeys: String, CodingKey {
      case sub, seq, source, value, gone, changes, part, more, skipped, event, error, state, missed
      case reason
      case reconnectMilliseconds = "reconnect_ms"
    }
  }
}

extension Incoming.Params {
  /// A further part of a list or map that did not fit one line.
  struct Part: Decodable {
    let value: JSONValue
    let last: Bool
  }
}

extension Incoming.Params {
  /// The range of positions that were removed from the journal.
  struct Missed: Decodable {
    let from: UInt64
    let to: UInt64
  }
}

/// The answer to `subscribe`.
struct SubscribeAnswer: Decodable {
  let epoch: String?
  let seq: UInt64?
  let value: JSONText?
  let gone: Bool?
  let values: JSONValue?
  let after: UInt64?
  let delivered: UInt64?
  let more: Bool?
  let state: String?
  let error: JSONText?
}

extension SubscribeAnswer {
  init(_ text: JSONText) throws(ClientError) {
    do throws(JSONDecodingError) {
      self = try text.decoded()
    } catch {
      throw .notUnderstood("\(error)")
    }
  }
}

extension ClientError {
  /// Creates the error for an error answer.
  package init(_ error: JSONText) {
    if let known = WireError(error.value) {
      self = .refused(known)
    } else {
      self = .unknownError(error)
    }
  }
}
