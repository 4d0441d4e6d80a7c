import FoundationEssentials
import Testing

/// The numbered faults that the daemon survives; `Tests/README.md` describes them.
struct FaultRowTests {
  private let tests = #filePath.replacing("ArchitectureTests/FaultRowTests.swift", with: "")

  /// Returns the names of all tests that begin with a number, with their files.
  private func names() throws -> [(file: String, name: Substring)] {
    try FileManager.default.subpathsOfDirectory(atPath: tests).filter { $0.hasSuffix(".swift") }
      .flatMap { file in
        let data = FileManager.default.contents(atPath: tests + file) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "`").compactMap { name in
          name.wholeMatch(of: /\d+: .*/) == nil ? nil : (file, name)
        }
      }
  }

  @Test(arguments: 1...40)
  func `every fault has a test with its number`(row: Int) throws {
    let count = try names().count { $0.name.hasPrefix("\(row): ") }
    #expect(count > 0)
  }

  @Test(arguments: 1...40)
  func `every fault has a row in the table, and the suites in it test the fault`(row: Int) throws {
    let data = FileManager.default.contents(atPath: tests + "README.md") ?? Data()
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("| \(row) |") }
    let suites = (line?.split(separator: "|").last ?? "").split { !$0.isLetter }
    #expect(!suites.isEmpty)
    let files = try names().filter { $0.name.hasPrefix("\(row): ") }.map(\.file)
    for suite in suites {
      #expect(files.contains { $0.hasSuffix("/\(suite).swift") }, "\(suite)")
    }
  }
}
