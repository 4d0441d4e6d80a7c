/// Values that a binding has written into an end, and that the end has not emitted yet.
///
/// An end can emit later, and can emit only the newest value. So an echo confirms the emitted value
/// and all values written before it.
struct Echoes<Value> {
  private var expected: [Value] = []

  /// Records a value before it is written.
  mutating func expect(_ value: Value) {
    expected.append(value)
    if expected.count > 1000 { expected.removeFirst() }
  }

  /// Removes the last value, because the end refused it.
  mutating func takeBack() {
    _ = expected.popLast()
  }

  /// Returns whether an emitted value is an echo, and removes the values that it confirms.
  mutating func isEcho(_ value: Value) -> Bool {
    guard !expected.isEmpty else { return false }
    // Values that cannot be compared are matched one for one, in order.
    guard let i = expected.firstIndex(where: { areSame($0, value) ?? true }) else { return false }
    expected.removeFirst(i + 1)
    return true
  }
}
