/// The elements in which two lists differ: indices to delete from the old list, and indices to
/// insert from the new one.
///
/// This is the linear-space variant of E. W. Myers, "An O(ND) Difference Algorithm and Its
/// Variations" (1986). Memory is O(n), time is O(n · d) for d differences, and the result is a
/// shortest one. Where two ranges differ in more than ``patience`` elements, it takes a good split
/// instead of the best. So time stays below O(n · patience).
struct Myers {
  private static var patience: Int { 256 }

  private let areEqual: (Int, Int) -> Bool
  /// The furthest point on each diagonal, searching from the start and from the end.
  private var forward: [Int]
  private var backward: [Int]
  private let zero: Int
  private(set) var deletes: [Int] = []
  private(set) var inserts: [Int] = []

  /// Compares two lists of these lengths by index, the old index first.
  init(_ oldCount: Int, _ newCount: Int, areEqual: @escaping (Int, Int) -> Bool) {
    self.areEqual = areEqual
    zero = min((oldCount + newCount + 1) / 2, Self.patience) + 1
    forward = Array(repeating: 0, count: 2 * zero + 1)
    backward = forward
    var boxes = [(old: 0..<oldCount, new: 0..<newCount)]
    while let box = boxes.popLast() {
      let (old, new) = trimmed(box.old, box.new)
      if old.isEmpty {
        inserts += new
      } else if new.isEmpty {
        deletes += old
      } else {
        let (x, y) = split(old, new)
        boxes.append((x..<old.upperBound, y..<new.upperBound))
        boxes.append((old.lowerBound..<x, new.lowerBound..<y))
      }
    }
  }

  /// Removes the common prefix and suffix.
  private func trimmed(_ old: Range<Int>, _ new: Range<Int>) -> (Range<Int>, Range<Int>) {
    var (a, b, c, d) = (old.lowerBound, old.upperBound, new.lowerBound, new.upperBound)
    while a < b, c < d, areEqual(a, c) { (a, c) = (a + 1, c + 1) }
    while a < b, c < d, areEqual(b - 1, d - 1) { (b, d) = (b - 1, d - 1) }
    return (a..<b, c..<d)
  }

  /// Returns a point on a shortest path, neither the start nor the end.
  private mutating func split(_ old: Range<Int>, _ new: Range<Int>) -> (Int, Int) {
    let (width, height) = (old.count, new.count)
    let delta = width - height
    let isOdd = delta % 2 != 0
    forward[zero + 1] = 0
    backward[zero + 1] = 0
    for steps in 0..<zero {
      for k in stride(from: -steps, through: steps, by: 2) {
        let x = advance(&forward, k, steps, width, height) {
          areEqual(old.lowerBound + $0, new.lowerBound + $1)
        }
        if isOdd, abs(delta - k) < steps, x + backward[zero + delta - k] >= width {
          return (old.lowerBound + x, new.lowerBound + x - k)
        }
      }
      for k in stride(from: -steps, through: steps, by: 2) {
        let x = advance(&backward, k, steps, width, height) {
          areEqual(old.upperBound - 1 - $0, new.upperBound - 1 - $1)
        }
        if !isOdd, abs(delta - k) <= steps, x + forward[zero + delta - k] >= width {
          return (old.upperBound - x, new.upperBound - x + k)
        }
      }
    }
    return furthest(old, new)
  }

  /// Goes one step further on a diagonal, then on while elements are equal.
  private func advance(
    _ reached: inout [Int], _ k: Int, _ steps: Int, _ width: Int, _ height: Int,
    areEqual: (Int, Int) -> Bool
  ) -> Int {
    let (above, below) = (reached[zero + k + 1], steps == 0 ? 0 : reached[zero + k - 1])
    var x = k == -steps || (k != steps && below < above) ? above : below + 1
    while x < width, x - k < height, x - k >= 0, areEqual(x, x - k) { x += 1 }
    reached[zero + k] = x
    return x
  }

  /// Returns the furthest point of the search from the start.
  private func furthest(_ old: Range<Int>, _ new: Range<Int>) -> (Int, Int) {
    var best = (x: 0, y: 0)
    let steps = zero - 1
    for k in stride(from: -steps, through: steps, by: 2) {
      let x = forward[zero + k]
      let y = x - k
      if x <= old.count, y <= new.count, y >= 0, x + y > best.x + best.y { best = (x, y) }
    }
    precondition(best.x + best.y > 0, "a diff gets nowhere")
    return (old.lowerBound + best.x, new.lowerBound + best.y)
  }
}
