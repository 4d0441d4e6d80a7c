import Testing
import Wire

struct NearestTests {
  private let names = ["watch", "wait", "get", "set", "unset", "history"]

  @Test(arguments: [
    ("watch", "watch"), ("wath", "watch"), ("wacth", "watch"), ("wiat", "wait"), ("gett", "get"),
    ("gte", "get"), ("unest", "unset"), ("hsitroy", "history"),
  ])
  func `the intended name is found for a typing error`(typed: String, meant: String) {
    #expect(nearest(to: typed, among: names) == meant)
  }

  @Test
  func `the beginning of a name is completed to the shortest one`() {
    #expect(nearest(to: "his", among: names) == "history")
    #expect(nearest(to: "cel", among: ["cells.add", "cells", "feeds"]) == "cells")
    #expect(nearest(to: "cells/l", among: ["cells/lamp", "cells/door"]) == "cells/lamp")
  }

  @Test(arguments: ["", "x", "frobnicate", "go", "ge", "wt"])
  func `an input unlike any name has no suggestion`(typed: String) {
    #expect(nearest(to: typed, among: names) == nil)
  }

  @Test(arguments: [
    ("cells", ["hello", "help"]), ("ps", ["is", "at"]), ("pick", ["since", "file"]),
    ("nope", ["open", "ping"]), ("list", ["get", "set"]),
  ])
  func `a different word is not a typing error`(typed: String, others: [String]) {
    #expect(nearest(to: typed, among: others) == nil)
  }
}

extension NearestTests {
  @Test
  func `long names that differ at both ends stay within the budget`() {
    let middle = String(repeating: "m", count: 186)
    let wanted = "ab" + middle + "cd"
    var search = Nearest(limit: Nearest.maxEdits)
    for i in 0..<100_000 {
      let (x, y) = (i % 26, i / 26 % 26)
      let end = String(decoding: [UInt8(97 + x), UInt8(97 + y)], as: UTF8.self)
      _ = search.isNearer(wanted.utf8.span, (end + middle + end).utf8.span)
    }
    #expect(search.cells <= Nearest.maxCells + Nearest.maxDifferentBytes * 64)
  }

  @Test
  func `the common prefix and suffix of long names are skipped`() {
    let path = String(repeating: "a", count: 90)
    var search = Nearest(limit: Nearest.maxEdits)
    let isNearer = search.isNearer("\(path)lmap\(path)".utf8.span, "\(path)lamp\(path)".utf8.span)
    #expect(isNearer)
    #expect(search.cells <= 12)
  }
}
