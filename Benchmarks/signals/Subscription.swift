import CMallocs
import Signals

/// Measures a subscription and its disposal, in ns and allocations.
func measureSubscription() {
  let sum = Sum()
  let subject = PassthroughSubject<Int, Never>()
  let other = subject.observeNext { [sum] in sum.value &+= $0 }
  let count = 100_000
  var times: [Double] = []
  var allocations: [Double] = []
  for _ in 0..<15 {
    let (before, start) = (malloc_count(), now())
    for _ in 0..<count {
      subject.observeNext { [sum] in sum.value &+= $0 }.dispose()
    }
    times.append((now() - start) / Double(count))
    allocations.append(Double(malloc_count() - before) / Double(count))
  }
  other.dispose()
  print("subscribe and dispose: \(number(times.median)) ns, \(number(allocations.median)) mallocs")
}
