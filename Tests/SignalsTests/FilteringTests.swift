import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct FilteringTests {
  let m = Marbles()

  @Test
  func `filter keeps the included elements`() {
    #expect(m.draw(m.cold("-a-b-a|").filter { $0 == "a" }) == "-a---a|")
    #expect(m.draw(m.cold("-a-b-#").ignoreOutput()) == "-----#")
    #expect(m.draw(m.cold("-a-b-|").ignoreTerminal()) == "-a-b")
  }

  @Test
  func `a signal can decide which elements are included`() {
    let filtered = m.cold("-a-b-|").flatMapFilter { [m] element in
      m.safe("-x|").map { _ in element == "b" }
    }
    #expect(m.draw(filtered) == "----b|")
  }

  @Test
  func `prefix and suffix take the first and the last elements`() {
    #expect(m.draw(m.cold("-a-b-|").first()) == "-(a|)")
    #expect(m.draw(m.cold("-a-b-|").last()) == "-----(b|)")
    #expect(m.draw(m.cold("-a-b-c|").output(at: 1)) == "---(b|)")
    #expect(m.draw(m.cold("-a-|").output(at: 1)) == "---|")
    #expect(m.draw(m.cold("-a-b-c|").prefix(maxLength: 2)) == "-a-(b|)")
    #expect(m.draw(m.cold("-a-b-c|").prefix(maxLength: 0)) == "|")
    #expect(m.draw(m.cold("-a-b-c|").suffix(maxLength: 2)) == "------(bc|)")
    #expect(m.draw(m.cold("-a-b-c#").suffix(maxLength: 2)) == "------#")
  }

  @Test
  func `dropFirst and dropLast drop the first and the last elements`() {
    #expect(m.draw(m.cold("-a-b-c|").dropFirst(2)) == "-----c|")
    #expect(m.draw(m.cold("-a-b-c|").dropLast(2)) == "-----a|")
    #expect(m.draw(m.cold("-a-b-c|").dropLast(0)) == "-a-b-c|")
  }

  @Test
  func `prefix ends at a condition, with or without the stopping element`() {
    #expect(m.draw(m.cold("-a-b-c|").prefix(while: { $0 < "b" })) == "-a-|")
    #expect(m.draw(m.cold("-a-b-c|").prefix(while: { $0 < "b" }, inclusive: true)) == "-a-(b|)")
  }

  @Test(arguments: ["--x", "--|", "--#"])
  func `any event of another signal ends prefix`(other: String) {
    #expect(m.draw(m.cold("-a-b-c|").prefix(untilOutputFrom: m.cold(other))) == "-a|")
  }

  @Test
  func `duplicates are dropped separately for each observer`() {
    #expect(m.draw(m.cold("aab-b-a|").removeDuplicates()) == "a-b---a|")
    #expect(
      m.draw(m.cold("aAb|").removeDuplicates { $0.lowercased() == $1.lowercased() }) == "a-b|")
  }

  @Test
  func `a pausable signal starts unpaused, and always passes the end on`() {
    #expect(
      m.draw(m.cold("-a-b-c-|").pausable(by: m.safe("--f-t").map { $0 == "t" })) == "-a---c-|")
    #expect(m.draw(m.cold("-a-b-|").pausable(by: m.safe("--f").map { $0 == "t" })) == "-a---|")
  }
}
