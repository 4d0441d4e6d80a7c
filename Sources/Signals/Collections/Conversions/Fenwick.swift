/// An array of counts with prefix sums in O(log n) (a Fenwick tree).
struct Fenwick {
  private var sums: [Int]

  init(count: Int) {
    sums = Array(repeating: 0, count: count + 1)
  }

  /// Adds to the count at an index.
  mutating func add(_ change: Int, at index: Int) {
    var i = index + 1
    while i < sums.count {
      sums[i] += change
      i += i & -i
    }
  }

  /// Returns the sum of the counts below an index.
  func sum(below index: Int) -> Int {
    var (i, sum) = (index, 0)
    while i > 0 {
      sum += sums[i]
      i -= i & -i
    }
    return sum
  }
}

extension [Int] {
  /// Returns the number of elements less than `number` in this ascending array.
  func count(below number: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the number at position `rank`, from 0, among those not in this ascending array.
  func free(_ rank: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] - middle <= rank { low = middle + 1 } else { high = middle }
    }
    return rank + low
  }
}
