public import JSON

/// An error as it crosses the socket.
public struct WireError: Error, Equatable, Sendable {
  /// Which error of the table it is.
  public let name: ErrorName

  /// One sentence for people.
  public let message: String

  /// What `data` holds beside `name` and `retry`.
  public var data: JSONObject

  /// Whether the same request may succeed later.
  public var retry: Bool

  /// An error of the table, with the rule for `retry` that the table gives.
  public init(_ name: ErrorName, _ message: String, _ data: JSONObject = [:], retry: Bool? = nil) {
    self.name = name
    self.message = message
    self.data = data
    self.retry = retry ?? name.row.retry
  }

  /// Appends the error object.
  public func write(to buffer: inout ByteBuffer) {
    buffer.append(#"{"code":"#)
    buffer.append(integer: name.code)
    buffer.append(#","message":"#)
    buffer.append(quoted: message)
    buffer.append(#","data":{"name":"#)
    buffer.append(quoted: name.rawValue)
    buffer.append(retry ? #","retry":true"# : #","retry":false"#)
    for member in data.members {
      buffer.append(UInt8(ascii: ","))
      buffer.append(quoted: member.name)
      buffer.append(UInt8(ascii: ":"))
      member.value.write(to: &buffer)
    }
    buffer.append("}}")
  }

  /// The error of an error object; `nil` when it is none of the table.
  public init?(_ value: JSONValue) {
    guard case .object(let object) = value, case .number(let code)? = object["code"],
      case .string(let message)? = object["message"],
      let name = code.int64.flatMap({ ErrorName(code: Int($0)) })
    else { return nil }
    var data = JSONObject()
    var retry: Bool?
    if case .object(let members)? = object["data"] {
      for member in members.members {
        switch (member.name, member.value) {
        case ("name", _): break
        case ("retry", .bool(let bool)): retry = bool
        default: data[member.name] = member.value
        }
      }
    }
    self.init(name, message, data, retry: retry)
  }
}

extension WireError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

// The errors that more than one place makes.
extension WireError {
  /// A line that is no JSON.
  public init(_ fault: JSONFault) {
    var data: JSONObject = [
      "offset": .number(JSONNumber(fault.offset)), "why": .string(fault.reason.rawValue),
    ]
    switch fault.reason {
    case .tooDeep: data.add(.depth, max: JSONLimits.depth)
    case .tooManyMembers: data.add(.members, max: JSONLimits.members)
    default: break
    }
    self.init(.parseError, "\(fault)", data)
  }

  /// Parameters that are not as described; the path is below `params`.
  public init(_ error: JSONDecodingError) {
    let message =
      switch (error.expected, error.got) {
      case ("no such member", _): "there is no parameter \(error.path.dropFirst())"
      case (let expected, "nothing"): "\(expected) is missing at \(error.path)"
      default: "\(error)"
      }
    self.init(
      .invalidParams, message,
      [
        "path": .string(error.path), "expected": .string(error.expected),
        "got": .string(error.got),
      ])
  }

  /// A request of the wrong shape.
  public static func invalidRequest(_ why: String) -> WireError {
    WireError(.invalidRequest, why, ["why": .string(why)])
  }

  /// Something that is not there, and what may have been meant.
  public static func notFound(_ what: String, _ id: String, didYouMean: String? = nil) -> WireError
  {
    var data: JSONObject = ["what": .string(what), "id": .string(id)]
    if let didYouMean { data["did_you_mean"] = .string(didYouMean) }
    return WireError(.notFound, "no \(what) '\(id)'", data)
  }

  /// A call whose time is over.
  ///
  /// - Parameter mayBeDone: Whether what it was to do may be found done; `cmd` makes sure then.
  public static func timeout(after milliseconds: Int, mayBeDone: Bool) -> WireError {
    WireError(
      .timeout,
      "the call has not come to its end within \(milliseconds) ms"
        + (mayBeDone ? "; whether it will is unknown" : "; nothing was done"),
      [
        "after_ms": .number(JSONNumber(milliseconds)),
        "outcome": .string(mayBeDone ? "unknown" : "none"),
      ])
  }

  /// The client does not want the answer any more.
  public static var cancelled: WireError {
    WireError(.cancelled, "the client has cancelled the call")
  }

  /// One more than a connection may have.
  public static func limitReached(_ limit: LimitName, _ limits: Limits) -> WireError {
    .limit(limit, limits, .limitReached)
  }

  /// Something that breaks a limit.
  public static func limit(
    _ limit: LimitName, _ limits: Limits, _ name: ErrorName, _ data: JSONObject = [:]
  ) -> WireError {
    let max = limits[limit]
    var data = data
    data.add(limit, max: max)
    return WireError(name, "\(limit.row.meaning): \(max) at the most", data)
  }
}

extension JSONObject {
  /// Names a limit that was broken, and how much it allows.
  public mutating func add(_ limit: LimitName, max: Int) {
    self["limit"] = .string(limit.rawValue)
    self["max"] = .number(JSONNumber(max))
  }
}
