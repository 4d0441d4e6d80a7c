import FoundationEssentials
import Testing

/// Each link in a document leads to a file, or to a heading of one.
struct LinkTests {
  private static let package = #filePath.replacing(
    "Tests/ArchitectureTests/LinkTests.swift", with: "")

  private static let documents: [String] = {
    let roots = [
      "Documentation", "Protocol", "Examples", "Libraries", "Sources", "Tests", "systemd",
    ]
    let below = roots.flatMap { root in
      (try? FileManager.default.subpathsOfDirectory(atPath: package + root))?
        .map { "\(root)/\($0)" } ?? []
    }
    return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "Benchmarks/README.md"]
      + below.filter { $0.hasSuffix(".md") && !$0.contains("/.build/") }
  }()

  private static func text(_ path: String) -> String {
    String(decoding: FileManager.default.contents(atPath: package + path) ?? Data(), as: UTF8.self)
  }

  /// Returns the lines of a document without its blocks of code.
  private static func prose(_ path: String) -> [Substring] {
    var isCode = false
    return text(path).split(separator: "\n").filter { line in
      if line.hasPrefix("```") { isCode.toggle() }
      return !isCode
    }
  }

  /// Returns the name of a heading in links: in lower case, without punctuation, `-` for spaces.
  private static func anchor(_ heading: Substring) -> String {
    heading.drop { $0 == "#" || $0 == " " }.lowercased()
      .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
  }

  /// Returns a path without `.` and `..`.
  private static func resolved(_ link: Substring, from document: String) -> String {
    var parts = document.split(separator: "/").dropLast()
    for part in link.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  @Test(arguments: documents)
  func `each link leads to something`(document: String) {
    for line in Self.prose(document) {
      for match in line.matches(of: /\]\(([^)\s:]+)\)/) {
        let parts = match.1.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? document : Self.resolved(parts[0], from: document)
        #expect(
          FileManager.default.fileExists(atPath: Self.package + path), "\(document): \(match.1)")
        guard parts.count == 2, path.hasSuffix(".md") else { continue }
        let headings = Self.prose(path).filter { $0.hasPrefix("#") }.map(Self.anchor)
        #expect(headings.contains(String(parts[1])), "\(document): \(match.1)")
      }
    }
  }
}
