import Testing
import Wire

struct NearestTests {
  private let names = ["watch", "wait", "get", "set", "unset", "history"]

  @Test(arguments: [
    ("watch", "watch"), ("wath", "watch"), ("wacth", "watch"), ("wiat", "wait"), ("gett", "get"),
    ("gte", "get"), ("unest", "unset"), ("hsitroy", "history"),
  ])
  func `a typing error is seen through`(typed: String, meant: String) {
    #expect(nearest(to: typed, among: names) == meant)
  }

  @Test(arguments: ["", "x", "frobnicate", "go"])
  func `what is like nothing is not guessed at`(typed: String) {
    #expect(nearest(to: typed, among: names) == nil)
  }
}
