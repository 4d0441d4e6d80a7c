import JSON
import ServiceTestSupport
import TestSupport
import Testing

/// The tables of methods in `Protocol` against `rpc.discover`.
@Suite(.leavesNothing)
struct ProtocolTableTests {
  /// A method: its parameters, an optional one with `?`, and the reasons of `rejected`.
  private struct Row: Equatable {
    var parameters: Set<String>
    var reasons: Set<String>
  }

  /// Parameters of which one is required, so that the table marks none of them.
  private static let alternatives: [String: Set<String>] = [
    "acl": ["method", "read", "write"], "reply": ["value", "error"],
    "history": ["at", "behind", "after", "before", "limit", "filter", "who"],
    "users.log_in": ["name", "token"],
  ]

  private static let directory = #filePath.replacing(
    "Tests/APITests/ProtocolTableTests.swift", with: "Protocol")

  /// The rows of the tables, by method.
  private func rows() -> [String: Row] {
    var result: [String: Row] = [:]
    var (isServices, inTable) = (false, false)
    for file in Files.paths(below: Self.directory) where file.hasSuffix(".md") {
      for line in Files.text(of: "\(Self.directory)/\(file)").split(separator: "\n") {
        if line.hasPrefix("| method | parameters |") {
          (inTable, isServices) = (true, line.contains("reasons of"))
        } else if !line.hasPrefix("|") {
          inTable = false
        }
        guard inTable, line.hasPrefix("| `") else { continue }
        let columns = line.split(separator: "|", omittingEmptySubsequences: true)
        let names = columns[0].matches(of: /`([a-z_.]+)`/).map { String($0.1) }
        // `events` is a kind of source in the row of history.
        let parameters = Set(columns[1].matches(of: /`([a-z_]+\??)`/).map { String($0.1) })
          .subtracting(names == ["history"] ? ["events"] : [])
        let reasons = isServices ? columns[3].matches(of: /`([a-z_]+)`/).map { String($0.1) } : []
        for name in names { result[name] = Row(parameters: parameters, reasons: Set(reasons)) }
      }
    }
    return result
  }

  /// The methods that `rpc.discover` describes.
  private func methods() throws -> [String: Row] {
    let client = try WholeBench().bench.connect()
    _ = client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":1048576}}}"#)
    let document = try #require(client.result(#"{"id":1,"method":"rpc.discover"}"#)).resolved
    guard case .array(let described)? = document["methods"] else { return [:] }
    var result: [String: Row] = [:]
    for case .object(let method) in described {
      guard case .string(let name)? = method["name"], case .array(let params)? = method["params"]
      else { continue }
      var row = Row(parameters: [], reasons: [])
      for case .object(let parameter) in params {
        guard case .string(let name)? = parameter["name"], name != "_meta" else { continue }
        row.parameters.insert(parameter["required"] == .bool(true) ? name : name + "?")
      }
      if case .array(let errors)? = method["errors"], case .object(let error)? = errors.first,
        case .object(let data)? = error["data"], case .array(let reasons)? = data["reason"]
      {
        for case .string(let reason) in reasons { row.reasons.insert(reason) }
      }
      result[name] = row
    }
    return result
  }

  @Test
  func `the tables have each method with its parameters and reasons`() throws {
    let (rows, methods) = (rows(), try methods())
    #expect(methods.count > 100)
    #expect(Set(rows.keys).symmetricDifference(methods.keys).isEmpty)
    for (name, method) in methods {
      guard let row = rows[name] else { continue }
      let free = Self.alternatives[name] ?? []
      func plain(_ names: Set<String>) -> Set<String> {
        Set(
          names.map {
            free.contains(String($0.prefix { $0 != "?" })) ? $0.filter { $0 != "?" } : $0
          })
      }
      #expect(plain(row.parameters) == plain(method.parameters), "\(name)")
      // The first table names the reasons in the text of its last column.
      if name.contains("."), !row.reasons.isEmpty || method.reasons.isEmpty {
        #expect(row.reasons == method.reasons, "\(name)")
      }
    }
  }
}
