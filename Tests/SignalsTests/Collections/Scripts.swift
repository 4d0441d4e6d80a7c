import Signals
import SignalsTestSupport

/// Random operations on a list, with their result.
struct ListScript {
  var source: [Int]
  var final: [Int]
  var patch: [OrderedCollectionOperation<Int, Int>] = []

  /// Creates a list of fewer than `size` elements, and fewer than `length` operations.
  init(size: Int, length: Int, _ random: inout Random) {
    source = Array(0..<random.below(size))
    final = source
    for i in 0..<random.below(length) {
      let operation = Self.step(of: final, newElement: 1000 + i, &random)
      patch.append(operation)
      final.apply(operation)
    }
  }

  static func step(
    of list: [Int], newElement: Int, _ random: inout Random
  ) -> OrderedCollectionOperation<Int, Int> {
    guard !list.isEmpty else { return .insert(newElement, at: 0) }
    return switch random.below(4) {
    case 0: .insert(newElement, at: random.below(list.count + 1))
    case 1: .delete(at: random.below(list.count))
    case 2: .update(at: random.below(list.count), newElement: newElement)
    default: .move(from: random.below(list.count), to: random.below(list.count))
    }
  }
}
