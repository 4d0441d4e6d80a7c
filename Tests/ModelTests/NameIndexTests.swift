import Model
import TestSupport
import Testing

struct NameIndexTests {
  private let segments = ["a", "b", "c", "a-b", "a0", "ab"]

  private func someName(_ random: inout SeededRandom) -> String {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in
      segments.randomElement(using: &random) ?? "a"
    }
    .joined(separator: "/")
  }

  private func somePattern(_ random: inout SeededRandom) -> Pattern? {
    var parts = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      Bool.random(using: &random) ? "*" : segments.randomElement(using: &random) ?? "a"
    }
    if Bool.random(using: &random) { parts.append("**") }
    return Pattern(parts.joined(separator: "/"))
  }

  private func found(_ index: NameSet, _ pattern: Pattern, without: [Pattern] = []) throws
    -> [String]
  {
    var found: [String] = []
    try index.search(pattern, without: without) { name in
      found.append(name)
      return true
    }
    return found
  }

  @Test(arguments: 1...20)
  func `a search finds each name that matches a pattern once, and no other`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var names: Set<String> = []
    let index = NameSet()
    for _ in 0..<400 {
      let name = someName(&random)
      if Int.random(in: 0..<4, using: &random) == 0 {
        names.remove(name)
        index.remove(name)
      } else {
        names.insert(name)
        index.insert(name)
      }
    }
    #expect(index.count == names.count)
    for _ in 0..<100 {
      let wanted = try #require(somePattern(&random))
      let excluded = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
        somePattern(&random)
      }
      let expected = names.filter { name in
        wanted.matches(name) && !excluded.contains { $0.matches(name) }
      }
      #expect(try found(index, wanted, without: excluded).sorted() == expected.sorted())
    }
    #expect(try found(NameSet(names), try #require(Pattern("**"))).sorted() == names.sorted())
  }

  @Test(arguments: 1...20)
  func `a search that was stopped goes on at its place, also if names came and went`(
    seed: Int
  ) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let names = Set((0..<300).map { _ in someName(&random) })
    for _ in 0..<20 {
      let index = NameSet(names)
      let wanted = try #require(somePattern(&random))
      let excluded = [somePattern(&random)].compactMap(\.self)
      var (place, found, present) = (SearchPlace(), [String](), names)
      var (isOver, changed) = (false, Set<String>())
      while !isOver {
        var left = Int.random(in: 1...9, using: &random)
        isOver = true
        try index.search(wanted, without: excluded, from: &place) { name in
          found.append(name)
          left -= 1
          isOver = left > 0
          return isOver
        }
        let name = someName(&random)
        changed.insert(name)
        if present.remove(name) != nil {
          index.remove(name)
        } else {
          present.insert(name)
          index.insert(name)
        }
      }
      #expect(Set(found).count == found.count, "each is found once")
      let expected = names.filter { name in
        wanted.matches(name) && !excluded.contains { $0.matches(name) }
      }
      #expect(Set(found).subtracting(changed) == expected.subtracting(changed))
    }
  }

  @Test
  func `a search that is stopped and goes on passes over as few names as another`() throws {
    let index = NameSet((0...NameIndex.maxVain).map { "cells/n\($0)/\($0 % 2 == 0 ? "a" : "b")" })
    let pattern = try #require(Pattern("cells/*/a"))
    func search() throws {
      var (place, isOver) = (SearchPlace(), false)
      while !isOver {
        isOver = true
        try index.search(pattern, without: [], from: &place) { _ in
          isOver = false
          return false
        }
      }
    }
    try search()
    for i in 0...NameIndex.maxVain { index.insert("cells/m\(i)/b") }
    #expect(throws: NameIndex.TooVain.self) { try search() }
  }

  @Test(arguments: ["in order", "in reverse", "shuffled"])
  func `thousands of names are found in order, however they were inserted`(way: String) throws {
    let names = (10_000..<14_000).map { "cells/n\($0)" }
    var random = SeededRandom(seed: 1)
    let inserted =
      switch way {
      case "in order": names
      case "in reverse": Array(names.reversed())
      default: names.shuffled(using: &random)
      }
    let index = NameSet()
    for name in inserted { index.insert(name) }
    let all = try #require(Pattern("cells/*"))
    #expect(index.count == 4_000)
    #expect(try found(index, all) == names)
    for name in inserted.prefix(2_000) { index.remove(name) }
    #expect(try found(index, all) == inserted.dropFirst(2_000).sorted())
    for name in inserted.prefix(2_000) { index.insert(name) }
    #expect(try found(index, all) == names)
  }

  @Test
  func `a search below named segments visits no other names`() throws {
    let names = (0..<100_000).map { "cells/n\($0)" } + ["cells/room/one", "cells/room/two"]
    let index = NameSet(names)
    #expect(try found(index, try #require(Pattern("cells/room/*"))).count == 2)
    #expect(try found(index, try #require(Pattern("cells/*/two"))) == ["cells/room/two"])
  }

  @Test
  func `an excluded subtree costs one step`() throws {
    let names = (0..<100_000).map { "cells/private/n\($0)" } + ["cells/lamp"]
    let index = NameSet(names)
    let found = try found(
      index, try #require(Pattern("**")), without: [try #require(Pattern("cells/private/**"))])
    #expect(found == ["cells/lamp"])
  }

  @Test
  func `a search that visits too many names without a result fails`() throws {
    let index = NameSet((0...NameIndex.maxVain).map { "cells/n\($0)/temperature" })
    #expect(throws: NameIndex.TooVain.self) {
      try found(index, try #require(Pattern("cells/*/humidity")))
    }
  }

  @Test
  func `a search ends when its closure returns false`() throws {
    let index = NameSet((0..<1000).map { "cells/n\($0)" })
    var looks = 0
    try index.search(try #require(Pattern("cells/*"))) { _ in
      looks += 1
      return looks < 3
    }
    #expect(looks == 3)
  }

  @Test
  func `names are found by prefix, also within a segment`() {
    let index = NameSet(["cells/se", "cells/sea", "cells/sea/deep", "cells/sf", "cells/s"])
    var found: [String] = []
    index.search(withPrefix: "cells/se") { name in
      found.append(name)
      return true
    }
    #expect(found == ["cells/se", "cells/sea", "cells/sea/deep"])
  }

  @Test
  func `neighbours are found for an existing and for a missing name`() {
    let index = NameSet((10..<99).map { "cells/n\($0)" })
    #expect(
      Set(index.neighbours(of: "cells/n505", count: 2)) == [
        "cells/n49", "cells/n50", "cells/n51", "cells/n52",
      ])
    #expect(index.neighbours(of: "cells/n10", count: 1) == ["cells/n10"])
    #expect(index.neighbours(of: "cells/z", count: 1) == ["cells/n98"])
    #expect(NameSet().neighbours(of: "cells/a", count: 3).isEmpty)
  }
}
