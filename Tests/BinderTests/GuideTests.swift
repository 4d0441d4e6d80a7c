import TestSupport
import Testing

/// The page "A daemon of your own", whose code is that of `Examples/Chores`.
struct GuideTests {
  @Test(arguments: [
    "Sources/choresd/Chores.swift", "Sources/choresd/main.swift",
    "Tests/choresdTests/ChoresTests.swift",
  ])
  func `the guide shows the program of the example`(name: String) throws {
    let root = #filePath.replacing("/Tests/BinderTests/GuideTests.swift", with: "")
    let guide = Files.text(of: "\(root)/Documentation/a-daemon-of-your-own.md")
    let code = Files.text(of: "\(root)/Examples/Chores/\(name)")
    #expect(!code.isEmpty)
    #expect(guide.contains("```swift\n// \(name)\n\(code)```"))
  }

  @Test
  func `the guide shows the derived sources of a test`() throws {
    let here = #filePath.replacing("/GuideTests.swift", with: "")
    let root = here.replacing("/Tests/BinderTests", with: "")
    let test = Files.text(of: "\(here)/DerivedSourceTests.swift")
    let begin = try #require(test.firstRange(of: "struct Projects"))
    let end = try #require(test[begin.lowerBound...].firstRange(of: "\n}\n"))
    let guide = Files.text(of: "\(root)/Documentation/a-daemon-of-your-own.md")
    #expect(guide.contains("```swift\n\(test[begin.lowerBound..<end.upperBound])```"))
  }
}
