import FoundationEssentials
import Testing

/// Suites that use services or connections must check that no test leaves anything alive.
struct LiveNodeRuleTests {
  private let tests = #filePath.replacing("ArchitectureTests/LiveNodeRuleTests.swift", with: "")

  @Test(arguments: [
    "APITests", "AppsTests", "ConnectionsTests", "EventSourcingTests", "FeaturesTests",
    "SignalsTests",
  ])
  func `every suite has the trait leavesNothing`(target: String) throws {
    var count = 0
    let files = try FileManager.default.subpathsOfDirectory(atPath: tests + target)
    for file in files where file.hasSuffix(".swift") {
      let data = FileManager.default.contents(atPath: "\(tests)\(target)/\(file)") ?? Data()
      var (suite, before) = ("", "")
      for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
        if ["struct ", "final class ", "private struct "].contains(where: line.hasPrefix) {
          suite = before == "@Suite(.leavesNothing)" ? "" : String(line)
        } else if line.hasPrefix("  @Test") {
          #expect(suite.isEmpty, "\(target)/\(file): \(suite)")
          count += 1
        }
        before = String(line)
      }
    }
    #expect(count > 15)
  }
}
