import FoundationEssentials
import Testing
import Wire

struct ErrorTableTests {
  @Test(arguments: ErrorName.allCases)
  func `an error is described as in the protocol`(name: ErrorName) throws {
    let path = #filePath.replacing(
      "Tests/WireTests/ErrorTableTests.swift", with: "Protocol/lines.md")
    let data = try #require(FileManager.default.contents(atPath: path))
    let cells = String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
      line.split(separator: "|").map { $0.drop { $0 == " " } }.map { cell in
        String(cell.reversed().drop { $0 == " " }.reversed())
      }
    }
    let listed = try #require(cells.first { $0.count == 5 && $0[1] == name.rawValue })
    let row = name.row
    #expect(listed[0].replacing("−", with: "-") == "\(row.code)")
    for member in row.data + row.optional { #expect(listed[2].contains(member)) }
    #expect(listed[3].hasPrefix(row.retry ? "yes" : "no"))
    #expect(listed[4] == row.meaning)
  }
}
