import JSON
import Model
import TestSupport
import Testing

/// Sorted members against a dictionary.
@Suite(.leavesNothing)
struct SortedMembersTests {
  @Test(arguments: 0..<4)
  func `changes give the same as in a dictionary`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var expected: [String: JSONText] = [:]
    for number in 0..<(seed * 1_500) { expected["k\(number)"] = JSONText(number) }
    var found = SortedMembers(expected)
    for number in 0..<8_000 {
      let key = "k\(Int.random(in: 0..<3_000, using: &random))"
      let value = Bool.random(using: &random) ? JSONText(number) : nil
      expected[key] = value
      found[key] = value
      #expect(found[key] == value && found.count == expected.count)
    }
    #expect(found.dictionary == expected && found == SortedMembers(expected))
    let sorted = expected.keys.sorted()
    #expect(found.keys == sorted)
    #expect(found.keys(after: nil, atMost: 5) == Array(sorted.prefix(5)))
    #expect(found.keys(after: sorted[700], atMost: 900) == Array(sorted[701...].prefix(900)))
    #expect(found.keys(after: sorted.last, atMost: 1) == [])
    var rest: [String] = []
    found.forEach(from: 100) { key, value in
      #expect(value == expected[key])
      rest.append(key)
      return rest.count < 1_000
    }
    #expect(rest == Array(sorted[100..<1_100]))
  }
}
