package import Connections
internal import EventSourcing
internal import JSON
internal import Model
package import Wire

/// The options of a call (`params._meta`), separate from the method's parameters.
package struct CallOptions: Decodable {
  package static let name = "_meta"

  let cmd: String?
  let expect: [String: JSONValue]?
  let timeoutMilliseconds: Int?
  let wait: String?
  let lease: LeaseOption?

  /// The position of the event that the caller works on.
  let cause: Position?

  /// Whether a command is answered when bindings have written what follows from it.
  let settle: Bool?

  private enum CodingKeys: String, CodingKey {
    case cause, cmd, expect, lease, settle
    case timeoutMilliseconds = "timeout_ms"
    case wait
  }

  /// Reads options of the usual form: distinct known members without `expect`.
  ///
  /// Returns `nil` for any other form; the options must then be decoded.
  package init?(reading line: Span<UInt8>, _ place: Range<Int>) {
    var scanner = JSONScanner(line, at: place.lowerBound)
    var (cmd, wait, timeout): (String?, String?, Int?)
    do throws(JSONFault) {
      guard scanner.peek() == UInt8(ascii: "{") else { return nil }
      var more = try scanner.enterObject()
      while more {
        let name = try scanner.key()
        let kind = try scanner.kind()
        let start = scanner.position
        switch kind {
        case .string where cmd == nil && scanner.token(name, is: "cmd"):
          cmd = scanner.text(try scanner.string())
        case .string where wait == nil && scanner.token(name, is: "wait"):
          wait = scanner.text(try scanner.string())
        case .number where timeout == nil && scanner.token(name, is: "timeout_ms"):
          try scanner.number()
          guard let number = scanner.integer(start..<scanner.position) else { return nil }
          timeout = Int(number)
        default: return nil
        }
        more = try scanner.nextMember()
      }
    } catch {
      return nil
    }
    (self.cmd, self.wait, timeoutMilliseconds) = (cmd, wait, timeout)
    (expect, lease, cause, settle) = (nil, nil, nil, nil)
  }

  /// The maximum timeout: one day, in milliseconds.
  private static let longestTimeout = 86_400_000

  /// Checks the ranges of the options.
  ///
  /// - Throws: ``WireError`` for an invalid option.
  private func check(_ limits: Limits) throws(WireError) {
    if let timeoutMilliseconds, !(1...Self.longestTimeout ~= timeoutMilliseconds) {
      throw WireError(
        JSONDecodingError(
          path: "/_meta/timeout_ms", expected: "1 to \(Self.longestTimeout)",
          got: "\(timeoutMilliseconds)"))
    }
    if let wait, wait != "disk", wait != "policy" {
      throw WireError(
        JSONDecodingError(
          path: "/_meta/wait", expected: #""disk", or "policy""#, got: "'\(wait)'"))
    }
    if case .ttl(let milliseconds)? = lease, !LeaseLimits.ttls.contains(milliseconds) {
      throw WireError(
        JSONDecodingError(
          path: "/_meta/lease/ttl_ms",
          expected: "\(LeaseLimits.ttls.lowerBound) to \(LeaseLimits.ttls.upperBound)",
          got: "\(milliseconds)"))
    }
    guard let cmd else { return }
    guard 1...limits.commandBytes ~= cmd.utf8.count, !cmd.utf8.contains(0) else {
      var error = WireError(
        JSONDecodingError(
          path: "/_meta/cmd", expected: "1 to \(limits.commandBytes) bytes without NUL",
          got: "\(cmd.utf8.count) bytes"))
      if cmd.utf8.count > limits.commandBytes {
        error.data.add(.commandBytes, max: limits.commandBytes)
      }
      throw error
    }
  }

  /// Checks that there are no options that only commands honour.
  ///
  /// - Throws: ``WireError`` `invalid_params` with the rule.
  package func checkIsNoCommand(_ rule: String) throws(WireError) {
    if cmd != nil { throw .unusable("_meta/cmd", rule, "one") }
    if expect != nil { throw .unusable("_meta/expect", rule, "some") }
    if lease != nil { throw .unusable("_meta/lease", rule, "one") }
  }

  /// Returns the expected versions of streams.
  ///
  /// - Throws: ``WireError`` for an invalid stream name or version.
  func expectations() throws(WireError) -> [(stream: String, at: EventSourcing.Expectation)] {
    var expectations: [(stream: String, at: EventSourcing.Expectation)] = []
    for (stream, expected) in expect ?? [:] {
      guard !stream.isEmpty, !stream.contains("*") else {
        throw WireError(
          JSONDecodingError(
            path: "/_meta/expect", expected: "the name of a stream", got: "'\(stream)'"))
      }
      guard let expectation = EventSourcing.Expectation(expected) else {
        throw WireError(
          JSONDecodingError(
            member: stream, of: "/_meta/expect",
            expected: #"a version, "none", "exists" or "any""#, got: "another value"))
      }
      expectations.append((stream, expectation))
    }
    return expectations
  }
}

extension CallOptions {
  /// Checks the options, and returns a call with their timeout.
  ///
  /// - Throws: ``WireError`` for an invalid option; `timeout` if the timeout has already passed.
  package func applied(to call: Call) throws(WireError) -> Call {
    try check(call.connection.limits)
    guard let timeoutMilliseconds else { return call }
    var call = call
    let waited = Int(clamping: call.connection.waitedMilliseconds)
    guard waited < timeoutMilliseconds else {
      throw .timeout(after: timeoutMilliseconds, mayBeDone: false)
    }
    call.timeoutMilliseconds = timeoutMilliseconds - waited
    return call
  }
}

extension EventSourcing.Expectation {
  /// Parses `n`, `"none"`, `"exists"` or `"any"`; `nil` for other values.
  fileprivate init?(_ value: JSONValue) {
    switch value {
    case .number(let number):
      guard let version = number.int64, version >= 0 else { return nil }
      self = .version(UInt64(version))
    case .string("none"): self = .none
    case .string("exists"): self = .exists
    case .string("any"): self = .any
    default: return nil
    }
  }

  /// The form used in requests.
  var json: JSONValue {
    switch self {
    case .version(let version): .number(JSONNumber(version))
    case .none: .string("none")
    case .exists: .string("exists")
    case .any: .string("any")
    }
  }
}

/// The lease that a command writes under (`_meta.lease`).
package enum LeaseOption: Decodable {
  /// The lease of the connection: `"connection"`.
  case connection

  /// A lease of its own: `{"ttl_ms": n}`.
  case ttl(milliseconds: Int)

  /// A lease that was granted before: its name.
  case granted(name: String)

  private enum CodingKeys: String, CodingKey {
    case ttl = "ttl_ms"
  }

  package init(from decoder: any Decoder) throws {
    if let members = try? decoder.container(keyedBy: CodingKeys.self) {
      self = .ttl(milliseconds: try members.decode(Int.self, forKey: .ttl))
    } else {
      let name = try decoder.singleValueContainer().decode(String.self)
      self = name == "connection" ? .connection : .granted(name: name)
    }
  }
}
