import FoundationEssentials
import Testing

/// Each example in a documentation comment is part of a test, so it compiles.
struct DocumentationExampleTests {
  private struct Example {
    let file: String
    let lines: [Substring]
  }

  private static let tests = #filePath.replacing(
    "ArchitectureTests/DocumentationExampleTests.swift", with: "")

  /// The examples of all targets.
  private func examples() throws -> [Example] {
    var result: [Example] = []
    for target in Targets.names {
      for file in try Targets.files(of: target) {
        let name = "\(target)/\(file)"
        var lines: [Substring]?
        for line in Targets.text(of: name).split(separator: "\n") {
          let comment = line.drop { $0 == " " }
          if comment == "/// ```swift" {
            lines = []
          } else if comment == "/// ```", let found = lines {
            result.append(Example(file: name, lines: found))
            lines = nil
          } else if comment.hasPrefix("///") {
            lines?.append(comment.dropFirst(3))
          }
        }
      }
    }
    return result
  }

  /// Returns the lines without their indentation.
  private func text(_ lines: some Sequence<Substring>) -> String {
    lines.map { line in "\n" + line.drop { $0 == " " } }.joined() + "\n"
  }

  @Test
  func `a test has the text of each example`() throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Self.tests)
    let code = files.filter { $0.hasSuffix(".swift") }.map { file in
      let data = FileManager.default.contents(atPath: Self.tests + file) ?? Data()
      return text(String(decoding: data, as: UTF8.self).split(separator: "\n"))
    }
    for example in try examples() {
      let wanted = text(example.lines)
      #expect(code.contains { $0.contains(wanted) }, "\(example.file): \(wanted)")
    }
  }

  @Test
  func `the types that a newcomer meets first have an example`() throws {
    let files = Set(try examples().map(\.file))
    for file in [
      "API/Catalog/Catalog.swift", "BinderAsync/AsyncBinderClient.swift",
      "BinderClient/BinderClient.swift", "Connections/Views/View.swift",
      "EventSourcing/Ledger.swift", "Signals/Core/Signal.swift",
    ] {
      #expect(files.contains(file), "\(file)")
    }
  }
}
