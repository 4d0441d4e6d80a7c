import Signals

/// Measures appending to an observed array, in ns; its size must not matter.
func measureAppend() {
  let count = 100_000
  let sizes = [0, 1_000_000]
  var times = sizes.map { _ in [Double]() }
  var floor: [Double] = []
  for sample in 0...15 {
    let rows = sizes.map { append(count, to: $0) }
    let least = appendToFloor(count)
    guard sample > 0 else { continue }  // the first warms up
    floor.append(least)
    for (i, time) in rows.enumerated() { times[i].append(time) }
  }
  print("append to an array and call a closure: \(number(floor.median)) ns")
  for (size, time) in zip(sizes, times) {
    let line = "append to an observed array, at \(size): \(number(time.median)) ns"
    print(time.median <= 100 ? line : "\(line), at most 100  missed")
  }
}

/// Returns the time of one append in ns, averaged over `count` appends to an array of `size`.
private func append(_ count: Int, to size: Int) -> Double {
  let sum = Sum()
  let array = MutableObservableArray(Array(0..<size))
  let observation = array.observeNext { [sum] in sum.value &+= $0.collection.count }
  for i in 0..<2 { array.append(i) }  // the first copies the array, which is still shared
  let start = now()
  for i in 0..<count { array.append(i) }
  let time = (now() - start) / Double(count)
  observation.dispose()
  return time
}

private func appendToFloor(_ count: Int) -> Double {
  let sum = Sum()
  let floor = Floor()
  floor.observers.append { [sum] in sum.value &+= $0 }
  var array: [Int] = []
  let start = now()
  for i in 0..<count {
    array.append(i)
    floor.send(array.count)
  }
  return (now() - start) / Double(count)
}
