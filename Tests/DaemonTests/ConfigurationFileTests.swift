import Glibc
import JSON
import TestSupport
import Testing

/// The installed configuration and its schema agree with the daemon.
struct ConfigurationFileTests {
  private static let directory = #filePath.replacing(
    "Tests/DaemonTests/ConfigurationFileTests.swift", with: "Configuration")

  private static let schema = Schema(
    (try? JSONValue(parsing: Files.text(of: directory + "/binder.conf.schema.json")))
      ?? .bool(false))

  /// Returns whether the daemon accepts a file.
  private func check(_ text: String) throws -> Bool {
    let directory = try TemporaryDirectory()
    Files.write(text, to: directory.path + "/c")
    return (try? run([DaemonProcess.executable, "--check-config", directory.path + "/c"])) != nil
  }

  /// The settings of the installed file, where they are comments.
  private var settings: JSONValue {
    get throws {
      let lines = Files.text(of: Self.directory + "/binder.conf").split(separator: "\n")
      let text = lines.map { line -> Substring in
        let trimmed = line.drop { $0 == " " }
        guard trimmed.hasPrefix("//") else { return trimmed }
        let rest = trimmed.dropFirst(2).drop { $0 == " " }
        return "\"{}[]".contains(rest.first ?? " ") ? rest : ""
      }
      let plain = text.map { line in line.split(separator: " //").first ?? "" }.joined(
        separator: " ")
      let json = plain.replacing(/,(\s*[}\]])/) { $0.output.1 }.replacing(/,(\s*[}\]])/) {
        $0.output.1
      }
      return try JSONValue(parsing: json)
    }
  }

  @Test
  func `the installed file is accepted, also with its commented settings`() throws {
    #expect(try check(Files.text(of: Self.directory + "/binder.conf")))
    let settings = try settings
    #expect(try check(settings.text.text.replacing("/etc/binder/bind.d", with: "/")))
    #expect(Self.schema.fault(in: settings) == nil)
    guard case .object(let all) = settings, case .object(let known)? = schemaRoot["properties"]
    else {
      Issue.record("no settings: \(settings.text.text)")
      return
    }
    #expect(all.members.map(\.name) == known.members.map(\.name), "each is there, in order")
  }

  private var schemaRoot: JSONObject {
    guard
      case .object(let root)? = try? JSONValue(
        parsing: Files.text(of: Self.directory + "/binder.conf.schema.json"))
    else { return [:] }
    return root
  }

  @Test(arguments: [
    #"{"sokcet":"/a"}"#, #"{"socket":"a"}"#, #"{"socket_mode":"0777"}"#, #"{"durability":"never"}"#,
    #"{"durability":"interval=0"}"#, #"{"durability":"interval=3600001"}"#,
    #"{"durability":"interval=01"}"#, #"{"socket":"/\#(String(repeating: "x", count: 107))"}"#,
    #"{"limits":{"batch":0}}"#, #"{"limits":{"line_in":1e12}}"#, #"{"limits":{"depth":64}}"#,
    #"{"retention":[{"streams":"a"}]}"#, #"{"retention":[{"max_age":"1d"}]}"#,
    #"{"retention":[{"streams":"a","max_age":"1y"}]}"#,
    #"{"retention":[{"streams":"a","max_bytes":"0K"}]}"#,
    #"{"web":{"search":"https://example.org/"}}"#,
    #"{"roles":[{"users":[]}]}"#, #"{"roles":[{"name":"a"}]}"#,
    #"{"roles":[{"name":"A","users":[]}]}"#,
    #"{"roles":[{"name":"a","users":[-1]}]}"#, #"{"roles":[{"name":"a","users":[],"read":"**"}]}"#,
    #"{"roles":[{"name":"a","users":[],"read":{"alow":[]}}]}"#, #"[]"#,
  ])
  func `the daemon refuses a file that the schema refuses`(text: String) throws {
    #expect(Self.schema.fault(in: try JSONValue(parsing: text)) != nil)
    #expect(try !check(text))
  }

  @Test(arguments: [
    "{}", #"{"durability":"interval=7","limits":{"subs":0}}"#,
    #"{"durability":"interval=3600000","socket":"/\#(String(repeating: "x", count: 106))"}"#,
    #"{"durability":"interval=2999999"}"#, #"{"durability":"interval=3599999"}"#,
    #"{"retention":[{"streams":"a/**","max_bytes":"4G"},{"streams":"**","max_count":1}]}"#,
    #"{"roles":[{"name":"a_1","groups":[0],"methods":{"deny":["a"]},"read":["**"]}]}"#,
  ])
  func `the daemon accepts a file that the schema accepts`(text: String) throws {
    #expect(Self.schema.fault(in: try JSONValue(parsing: text)) == nil)
    #expect(try check(text))
  }
}
