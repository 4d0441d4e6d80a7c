import Model
import TestSupport
import Testing

struct PatternIndexTests {
  private let segments = ["a", "b", "c"]

  /// Returns a random name; some segments may be empty.
  private func someName(_ random: inout SeededRandom) -> String {
    (0..<Int.random(in: 1...4, using: &random)).map { _ in
      (segments + segments + [""]).randomElement(using: &random) ?? "a"
    }
    .joined(separator: "/")
  }

  private func somePattern(_ random: inout SeededRandom) -> Pattern? {
    var parts = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      (segments + ["*"]).randomElement(using: &random) ?? "a"
    }
    parts.append((segments + ["*", "**"]).randomElement(using: &random) ?? "a")
    return Pattern(parts.joined(separator: "/"))
  }

  @Test(arguments: 1...20)
  func `the index finds the values of all patterns that match a name, and no others`(seed: Int)
    throws
  {
    var random = SeededRandom(seed: UInt64(seed))
    let index = PatternIndex<String>()
    var patterns: Set<Pattern> = []
    for _ in 0..<200 {
      let pattern = try #require(somePattern(&random))
      if Int.random(in: 0..<3, using: &random) == 0 {
        patterns.remove(pattern)
        index[pattern] = nil
      } else {
        patterns.insert(pattern)
        index[pattern] = pattern.text
      }
      #expect(index[pattern] == (patterns.contains(pattern) ? pattern.text : nil))
    }
    #expect(index.count == patterns.count)
    for _ in 0..<100 {
      let name = someName(&random)
      var found: [String] = []
      index.forEachMatch(for: name.utf8.span) { found.append($0) }
      let expected = patterns.filter { $0.matches(name) }.map(\.text)
      #expect(found.sorted() == expected.sorted())
      #expect(index.hasMatch(for: name.utf8.span) == !expected.isEmpty)
    }
    for pattern in patterns { index[pattern] = nil }
    #expect(index.isEmpty)
  }

  @Test(arguments: 1...20)
  func `the intersection of two patterns matches the names that both match`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    for _ in 0..<200 {
      let (one, other) = (try #require(somePattern(&random)), try #require(somePattern(&random)))
      let common = one.intersection(with: other)
      #expect((common != nil) == one.overlaps(other))
      for _ in 0..<20 {
        let name = someName(&random)
        #expect(common?.matches(name) ?? false == (one.matches(name) && other.matches(name)))
      }
    }
  }
}
