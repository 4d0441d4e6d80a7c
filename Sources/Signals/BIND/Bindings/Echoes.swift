/// What a binding has written into an end and was not told of by it yet.
///
/// An end may tell later, and may tell of the newest value only, so an echo is the value that comes
/// back and all that was written before it.
struct Echoes<Value> {
  private var expected: [Value] = []

  /// A value is being written.
  mutating func expect(_ value: Value) {
    expected.append(value)
    if expected.count > 1000 { expected.removeFirst() }
  }

  /// The value that was written last was refused.
  mutating func takeBack() {
    _ = expected.popLast()
  }

  /// Whether a value that the end tells is one that was written.
  mutating func isEcho(_ value: Value) -> Bool {
    guard !expected.isEmpty else { return false }
    // Values that cannot be compared come back one for one.
    guard let i = expected.firstIndex(where: { areSame($0, value) ?? true }) else { return false }
    expected.removeFirst(i + 1)
    return true
  }
}
