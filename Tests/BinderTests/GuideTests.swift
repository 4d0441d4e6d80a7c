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
}
