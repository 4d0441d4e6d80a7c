internal import JSON
internal import Wire

/// A line from the daemon.
struct Incoming: Decodable {
  let id: JSONText?
  let method: String?
  let result: JSONText?
  let error: JSONText?
  let params: Params?

  /// The members of all notifications together.
  struct Params: Decodable {
    let sub: Handle?
    let seq: UInt64?
    let source: String?
    let value: JSONText?
    let gone: Bool?
    let changes: JSONText?
    let part: Part?
    let skipped: UInt64?
    let event: JSONText?
    let error: JSONText?
    let state: String?
    let missed: Missed?
    let reason: String?
    let reconnect_ms: UInt64?
  }
}

extension Incoming.Params {
  /// More of a list or a map that did not fit into a line.
  struct Part: Decodable {
    let value: JSONValue
    let last: Bool
  }
}

extension Incoming.Params {
  /// Positions that are not kept any more.
  struct Missed: Decodable {
    let from: UInt64
    let to: UInt64
  }
}

/// The answer to a subscription.
struct SubscribeAnswer: Decodable {
  let epoch: String?
  let seq: UInt64?
  let value: JSONText?
  let gone: Bool?
  let values: JSONValue?
  let after: UInt64?
  let state: String?
  let error: JSONText?
}

extension JSONText {
  /// What is shown of a source that is loaded, while it is not: its state as a pattern shows it.
  ///
  /// - Returns: `nil` for what is loaded, and for what never is.
  init?(state: String?, value: JSONText?, error: JSONText?) {
    guard let state, state != "loaded" else { return nil }
    var object: JSONObject = ["state": .string(state)]
    object["value"] = value?.value
    object["error"] = error?.value
    self = JSONValue.object(object).text
  }
}

extension ClientError {
  /// What the daemon has answered instead of a result.
  init(_ error: JSONText) {
    if let known = WireError(error.value) {
      self = .refused(known)
    } else {
      self = .unknownError(error)
    }
  }
}
