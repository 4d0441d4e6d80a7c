public import JSON

/// An error as the protocol writes it.
public struct WireError: Error, Equatable, Sendable {
  /// The error's row in the table.
  public let name: ErrorName

  /// A one-sentence message for people.
  public let message: String

  /// The members of `data`, besides `name` and `retry`.
  public var data: JSONObject

  /// Whether the same request may succeed later.
  public var retry: Bool

  /// Creates an error.
  ///
  /// `retry` defaults to the value in the table.
  public init(_ name: ErrorName, _ message: String, _ data: JSONObject = [:], retry: Bool? = nil) {
    self.name = name
    self.message = message
    self.data = data
    self.retry = retry ?? name.row.retry
  }

  /// Appends the JSON error object.
  public func write(to buffer: inout ByteBuffer) {
    buffer.object {
      $0.member("code", name.code)
      $0.member("message", message)
      $0.object("data") {
        $0.member("name", name.rawValue)
        $0.member("retry", retry)
        for member in data.members {
          $0.key(quoted: member.name)
          member.value.write(to: &$0)
        }
      }
    }
  }

  /// Parses an error object; `nil` if its code is not in the table.
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
  /// The message of the error.
  public var description: String { message }
}

// Errors that are created in more than one place.
extension WireError {
  /// Creates an error for a line that is not valid JSON.
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

  /// Creates an error for invalid parameters.
  ///
  /// The path is relative to `params`.
  public init(_ error: JSONDecodingError) {
    let message =
      switch (error.expected, error.got) {
      case ("no such member", _): "unknown parameter '\(Self.parameter(error.path))'"
      case ("a value", "nothing"): "missing parameter '\(Self.parameter(error.path))'"
      case (let expected, "nothing"):
        "missing parameter '\(Self.parameter(error.path))' (\(expected))"
      default: "\(error)"
      }
    self.init(
      .invalidParams, message,
      [
        "path": .string(error.path), "expected": .string(error.expected),
        "got": .string(error.got),
      ])
  }

  /// Returns the name of a parameter, or of an argument of a view; of a deeper part its path.
  private static func parameter(_ path: String) -> Substring {
    let path = path.dropFirst()
    return path.hasPrefix("args/") ? path.dropFirst(5) : path
  }

  /// Creates an error for a malformed request.
  public static func invalidRequest(_ why: String) -> WireError {
    WireError(.invalidRequest, why, ["why": .string(why)])
  }

  /// Creates an error for a missing object, with an optional suggestion.
  ///
  /// - Parameter message: The message; `nil` for the usual one.
  public static func notFound(
    _ what: String, _ id: String, _ message: String? = nil, didYouMean: String? = nil
  ) -> WireError {
    var data: JSONObject = ["what": .string(what), "id": .string(id)]
    if let didYouMean { data["did_you_mean"] = .string(didYouMean) }
    return WireError(.notFound, message ?? "no \(what) '\(id)'", data)
  }

  /// Creates an error for a call that timed out.
  ///
  /// - Parameter mayBeDone: Whether the effect may still happen; a retry with the same `cmd` is
  ///   safe.
  public static func timeout(after milliseconds: Int, mayBeDone: Bool) -> WireError {
    WireError(
      .timeout,
      "the call did not end within \(milliseconds) ms"
        + (mayBeDone ? "; it may still take effect" : "; nothing was done"),
      [
        "after_ms": .number(JSONNumber(milliseconds)),
        "outcome": .string(mayBeDone ? "unknown" : "none"),
      ])
  }

  /// The error for a call that the client cancelled.
  public static var cancelled: WireError {
    WireError(.cancelled, "the client has cancelled the call")
  }

  /// Creates an error for exceeding a limit of the connection.
  public static func limitReached(_ limit: LimitName, _ limits: Limits) -> WireError {
    .limit(limit, limits, .limitReached)
  }

  /// Creates an error for exceeding a limit.
  public static func limit(
    _ limit: LimitName, _ limits: Limits, _ name: ErrorName, _ data: JSONObject = [:]
  ) -> WireError {
    let max = limits[limit]
    var data = data
    data.add(limit, max: max)
    return WireError(name, "\(limit.row.meaning): \(max) at most", data)
  }
}

extension JSONObject {
  /// Sets `limit` and `max` to the exceeded limit and its value.
  public mutating func add(_ limit: LimitName, max: Int) {
    self["limit"] = .string(limit.rawValue)
    self["max"] = .number(JSONNumber(max))
  }
}
