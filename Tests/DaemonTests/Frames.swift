import JSON
import Testing

/// Checks every line that any test receives against `Protocol/server-frame.schema.json`.
enum Frames {
  static let schema = Schema(named: "server-frame.schema.json")

  /// - Parameter requests: The pending requests, to check each result by its method.
  static func check(_ line: String, _ requests: AskedMethods? = nil) {
    guard let value = try? JSONValue(parsing: line, maxMembers: JSONLimits.anyMembers) else {
      Issue.record("no JSON: \(line.prefix(200))")
      return
    }
    if let fault = schema.fault(in: value) {
      Issue.record("\(fault): \(line.prefix(300))")
    }
    for (method, result) in requests?.results(in: value) ?? [] {
      if let fault = schema.fault(in: result, as: "results/\(method)") {
        Issue.record("\(method)\(fault): \(line.prefix(300))")
      }
    }
  }
}

/// The methods of the pending requests of a connection, by id.
final class AskedMethods {
  private var methods: [String: [String]] = [:]

  /// The service that tests provide: its providers declare its results.
  private static let provided = "lamp."

  /// Called with each result, in addition to the check.
  var onResult: ((_ method: String, _ frame: JSONObject) -> Void)?

  /// Records the requests in sent bytes.
  func sent(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.count < 1 << 16 {
      guard let value = try? JSONValue(parsing: Array(line).span) else { continue }
      if case .array(let requests) = value {
        for request in requests { note(request) }
      } else {
        note(value)
      }
    }
  }

  private func note(_ request: JSONValue) {
    guard case .object(let request) = request, let id = request["id"],
      case .string(let method)? = request["method"], !method.hasPrefix(Self.provided)
    else { return }
    methods[id.text.text, default: []].append(method)
  }

  /// Returns the results of a line and their methods.
  func results(in line: JSONValue) -> [(method: String, result: JSONValue)] {
    let frames = if case .array(let frames) = line { frames } else { [line] }
    return frames.compactMap { frame in
      guard case .object(let frame) = frame, let id = frame["id"]?.text.text,
        let method = methods[id]?.first
      else { return nil }
      methods[id]?.removeFirst()
      // Answers to a reused id may arrive in any order.
      guard methods[id]?.isEmpty == true else { return nil }
      methods[id] = nil
      guard let result = frame["result"] else { return nil }
      onResult?(method, frame)
      return (method, result)
    }
  }
}
