package import JSON

/// A recorded line, or the end of a connection.
package struct Entry: Sendable {
  package enum What: Sendable {
    /// The client has sent a request.
    case sent(Request)
    /// The client received an answer.
    case answered(Answer)
    /// The client received a notification of a subscription.
    case told(Notice)
    /// The connection is lost: one side was killed or has closed it.
    case lost
    /// A line without stored state, for example an answer to `ping`.
    case other
  }

  package let client: String
  package let what: What

  /// The line on the socket.
  package let text: String

  /// Creates the entry for a sent line.
  package init(sent text: String, by client: String) {
    self.client = client
    self.text = text
    what = Request(text).map { .sent($0) } ?? .other
  }

  /// Creates the entry for a received line.
  package init(received text: String, by client: String) {
    self.client = client
    self.text = text
    if let answer = Answer(text) {
      what = .answered(answer)
    } else if let notice = Notice(text) {
      what = .told(notice)
    } else {
      what = .other
    }
  }

  /// Creates the entry for the end of a connection.
  ///
  /// - Parameter reason: A reason for the transcript.
  package init(lost reason: String, by client: String) {
    self.client = client
    text = reason
    what = .lost
  }

  /// The entry as a line in the format of `Protocol/transcripts`.
  package var line: String {
    switch what {
    case .sent: "\(client)-> \(text)"
    case .lost: "\(client)! \(text)"
    case .answered, .told, .other: "\(client)<- \(text)"
    }
  }
}

/// A request of a client.
package struct Request: Sendable {
  /// The id as JSON text; `nil` for a request without an answer.
  package let id: String?
  package let call: MethodCall
  /// The idempotency key of the command.
  package let command: String?
  /// `_meta.expect`, as far as it names versions.
  package let expect: [String: Int]

  init?(_ text: String) {
    guard let members = try? JSONText(parsing: text).members, let method = members["method"]?.string
    else { return nil }
    id = members["id"]?.text
    var params = members["params"]?.members ?? [:]
    let meta = params.removeValue(forKey: "_meta")?.members ?? [:]
    command = meta["cmd"]?.string
    expect = (meta["expect"]?.members ?? [:]).compactMapValues { $0.int }
    call = MethodCall(method: method, params: params)
  }
}

/// A call with parameters by name.
package struct MethodCall: Sendable, Hashable {
  package let method: String
  package let params: [String: JSONText]

  package init(method: String, params: [String: JSONText]) {
    self.method = method
    self.params = params
  }

  func text(_ name: String) -> String { params[name]?.string ?? "" }
  func int(_ name: String) -> Int? { params[name]?.int }

  /// The calls of an `atomic`, or the call itself.
  var parts: [MethodCall] {
    guard method == "atomic", let calls = params["calls"]?.elements else { return [self] }
    return calls.compactMap { call in
      guard let members = call.members, let method = members["method"]?.string else { return nil }
      return MethodCall(method: method, params: members["params"]?.members ?? [:])
    }
  }
}

/// The answer to a request.
package struct Answer: Sendable {
  package let id: String
  /// The members of the result; `nil` for an error.
  package let result: [String: JSONText]?
  /// The stable name of the error.
  package let error: String?

  init?(_ text: String) {
    guard let members = try? JSONText(parsing: text).members, let id = members["id"] else {
      return nil
    }
    self.id = id.text
    result = members["result"]?.members
    error = members["error"]?.members?["data"]?.members?["name"]?.string
  }

  package var seq: Int? { result?["seq"]?.int }
  package var isReplayed: Bool { result?["replayed"]?.bool ?? false }
}

/// A notification about a subscription.
package struct Notice: Sendable {
  package let method: String
  /// The handle as JSON text.
  package let sub: String
  package let params: [String: JSONText]

  init?(_ text: String) {
    guard let members = try? JSONText(parsing: text).members,
      let method = members["method"]?.string,
      let params = members["params"]?.members, let sub = params["sub"]
    else { return nil }
    self.method = method
    self.sub = sub.text
    self.params = params
  }

  package var seq: Int? { params["seq"]?.int }
}

extension JSONText {
  package var string: String? {
    guard case .string(let string) = value else { return nil }
    return string
  }

  package var int: Int? { number?.int64.map { Int($0) } }
}
