import Model
import TestSupport
import Testing

/// An array in pieces against an array.
@Suite(.leavesNothing)
struct LongArrayTests {
  @Test(arguments: 0..<4)
  func `insertions, removals and changes give the same as in an array`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var expected = Array(0..<(seed * 1_500))
    var found = LongArray(expected)
    for number in 0..<8_000 {
      // It grows, and then shrinks until it is empty.
      let isGrowing = number < 4_000
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where !expected.isEmpty:
        let index = Int.random(in: expected.indices, using: &random)
        expected[index] = -number
        found[index] = -number
      case 1..<3 where !expected.isEmpty, _ where !isGrowing && !expected.isEmpty:
        let index = Int.random(in: expected.indices, using: &random)
        #expect(found.remove(at: index) == expected.remove(at: index))
      default:
        let index = number % 2 == 0 ? 0 : Int.random(in: 0...expected.count, using: &random)
        expected.insert(number, at: index)
        found.insert(number, at: index)
      }
      if number % 500 == 0 { #expect(Array(found) == expected) }
    }
    #expect(Array(found) == expected)
    #expect(found.count == expected.count && found == LongArray(expected))
    while !expected.isEmpty {
      let index = expected.count / 2
      #expect(found.remove(at: index) == expected.remove(at: index))
    }
    #expect(found.isEmpty && Array(found) == [])
  }
}
