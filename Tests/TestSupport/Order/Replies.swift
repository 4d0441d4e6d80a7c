internal import JSON

/// The pending replies of a connection: one per request, in order.
struct Replies {
  /// A request or a whole batch.
  fileprivate struct Owed {
    var requests: [Asked]
    var isBatch = false
    /// Whether it may overtake others and be overtaken.
    var isLate: Bool { requests.contains(where: \.isLate) }
    /// Whether no reply is needed.
    var isOptional: Bool { requests.allSatisfy(\.isOptional) }
    /// Whether a later reply came first.
    var wasOvertaken = false
  }

  /// A request that expects a reply.
  fileprivate struct Asked {
    var id = "null"
    var method = ""
    var isLate = false
    /// Whether it has an idempotency key, so that a replayed result may come later than its turn.
    var isCommand = false
    /// Whether it is answered only if it is refused.
    var isOptional = false
    /// Whether it could not be read, so that its reply has no id.
    var isUnreadable = false
  }

  private var owed: [Owed] = []

  /// The methods that `describe` marks `async`.
  var late: Set<String> = []

  private static let maxBatch = 256

  // MARK: Asking

  mutating func expectRefusal() {
    owed.append(Owed(requests: [Asked(isUnreadable: true)]))
  }

  mutating func expect(_ line: String) {
    guard let text = try? JSONText(parsing: line) else { return expectRefusal() }
    guard let elements = text.elements else {
      owed.append(Owed(requests: [asked(text)]))
      return
    }
    guard 1...Self.maxBatch ~= elements.count else { return expectRefusal() }
    owed.append(Owed(requests: elements.map(asked), isBatch: true))
  }

  private func asked(_ text: JSONText) -> Asked {
    guard let members = text.members, let method = members["method"]?.string else {
      return Asked(id: text.members?["id"]?.text ?? "null", isUnreadable: true)
    }
    let params = members["params"]?.members ?? [:]
    return Asked(
      id: members["id"]?.text ?? "null", method: method,
      isLate: late.contains(method) || params["from"]?.members?["time"] != nil
        || params["_meta"]?.members?["settle"] != nil,
      isCommand: params["_meta"]?.members?["cmd"] != nil, isOptional: members["id"] == nil)
  }

  // MARK: Answers

  mutating func take(_ reply: [String: JSONText], _ frames: inout Frames) -> String? {
    guard
      let i = owed.firstIndex(where: { owed in
        owed.isBatch ? isBatchRefusal(reply) : owed.requests[0].isAnswered(by: reply)
      })
    else { return "nobody has asked for this" }
    let request = owed[i].requests[0]
    let isReplay = reply["result"]?.members?["replayed"] != nil
    // If the disk is slow, a timeout with unknown outcome may overtake earlier replies.
    let data = reply["error"]?.members?["data"]?.members
    let isOverdue =
      data?["name"]?.text == #""timeout""# && data?["outcome"]?.text == #""unknown""#
    if let fault = settle(i, isReplay: isReplay || isOverdue) {
      return fault
    }
    return frames.take(reply: reply, to: request.method)
  }

  /// Returns whether a reply refuses a whole batch.
  private func isBatchRefusal(_ reply: [String: JSONText]) -> Bool {
    reply["error"]?.members?["data"]?.members?["name"]?.string == "batch_too_large"
      && reply["id"]?.text == "null"
  }

  mutating func take(batch: [JSONText], _ frames: inout Frames) -> String? {
    let replies = batch.map { $0.members ?? [:] }
    guard let i = owed.firstIndex(where: { $0.isAnswered(by: replies) }) else {
      return "no batch is answered by this"
    }
    let requests = owed[i].requests
    let isReplay = replies.contains { $0["result"]?.members?["replayed"] != nil }
    if let fault = settle(i, isReplay: isReplay) { return fault }
    for reply in replies {
      let request = requests.first { $0.isAnswered(by: reply) }
      if let fault = frames.take(reply: reply, to: request?.method ?? "") { return fault }
    }
    return nil
  }

  /// Removes a pending reply; returns the broken rule, or `nil`.
  private mutating func settle(_ i: Int, isReplay: Bool) -> String? {
    let reply = owed.remove(at: i)
    if reply.wasOvertaken, !isReplay, !reply.isLate { return "a later request was answered first" }
    guard !reply.isLate, !isReplay else { return nil }
    for j in 0..<i where !owed[j].isLate && !owed[j].isOptional {
      guard owed[j].requests.contains(where: \.isCommand) else {
        return "the request before, \(owed[j].requests[0].method), is not answered yet"
      }
      owed[j].wasOvertaken = true
    }
    // Overtaken requests without an id get no reply any more.
    let optional = owed[..<i].indices.filter { owed[$0].isOptional }
    for j in optional.reversed() { owed.remove(at: j) }
    return nil
  }
}

extension Replies.Asked {
  fileprivate func isAnswered(by reply: [String: JSONText]) -> Bool {
    let name = reply["error"]?.members?["data"]?.members?["name"]?.string
    let isRefusal = ["parse_error", "invalid_request", "line_too_long", "batch_too_large"].contains(
      name)
    guard !isUnreadable, !isOptional else { return isRefusal }
    return reply["id"]?.text == id || (isRefusal && reply["id"]?.text == "null")
  }
}

extension Replies.Owed {
  fileprivate func isAnswered(by replies: [[String: JSONText]]) -> Bool {
    guard isBatch else { return false }
    var rest = requests[...]
    for reply in replies {
      let reachable = rest.prefix { $0.isOptional || !$0.isAnswered(by: reply) }.endIndex
      let places = rest.indices.filter { rest[$0].isAnswered(by: reply) && $0 <= reachable }
      // Only requests without an id may be skipped.
      guard let i = places.last, rest[..<i].allSatisfy(\.isOptional) else { return false }
      rest = rest[(i + 1)...]
    }
    return rest.allSatisfy(\.isOptional)
  }
}

extension JSONText {
  var string: String? {
    guard case .string(let string) = value else { return nil }
    return string
  }
}
