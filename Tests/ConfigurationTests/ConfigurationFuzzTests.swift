import Configuration
import JSON
import TestSupport
import Testing

struct ConfigurationFuzzTests {
  private static let example = Files.text(
    of: #filePath.replacing(
      "Tests/ConfigurationTests/ConfigurationFuzzTests.swift", with: "Configuration/binder.conf"))

  private static let corpus = [
    // The example without and with its settings, which are comments there.
    example, example.replacing("    // ", with: "    ").replacing("  // \"", with: "  \""),
    """
    {"socket":"/a","socket_mode":"0660","journal":"/b","durability":"interval=5","limits":{"batch":3},
     "retention":[{"streams":"a/**","max_age":"3d","max_count":5,"max_bytes":"6M"}],
     "roles":[{"name":"a","users":["alice",7,"*"],"groups":["adm"],"methods":{"allow":["a.*"],"deny":["b"]},
     "read":["**"],"write":{"allow":["cells/ü"]}}]} // end
    """,
    "/* a */ { /**/ \"limits\" : { } , } // \u{e9}\n",
  ]

  private static let mutation = Mutation(
    of: corpus,
    words: [
      "//", "/*", "*/", "/", ",", ",,", "{", "}", "[", "]", ":", "\"", "\\\"", "\\", "null", "true",
      "-1",
      "1e9", "9223372036854775808", "0.5", "\"*\"", "\"**\"", "\u{0}", "\n", "\u{feff}",
      "\"\\ud800\"",
      "\"allow\":", "\"users\":", String(repeating: "[", count: 70),
    ])

  @Test
  func `any file is accepted, or rejected with positions in it`() {
    let found = Fuzzing("configuration").run(Self.mutation.make) { input in
      let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      do throws(ConfigurationFaults) {
        let taken = try Configuration(parsing: input, file: "f", accounts)
        for warning in taken.warnings { if let bad = misplaced(warning, lines) { return bad } }
        return nil
      } catch {
        guard !error.faults.isEmpty else { return "nothing is wrong with what is refused" }
        return error.faults.lazy.compactMap { misplaced($0, lines) }.first
      }
    }
    if let found { Issue.record("\(found)") }
  }

  /// Returns an error message if the position of a fault is invalid, otherwise `nil`.
  private func misplaced(_ fault: ConfigurationFault, _ lines: [ArraySlice<UInt8>]) -> String? {
    guard !fault.message.isEmpty else { return "a fault without a word" }
    guard 1...lines.count ~= fault.line else { return "\(fault): there is no such line" }
    let length = lines[fault.line - 1].count { $0 & 0xC0 != 0x80 }
    return 1...length + 1 ~= fault.column ? nil : "\(fault): there is no such column"
  }
}
