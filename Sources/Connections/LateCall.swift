internal import Signals

/// The state of a call that is answered in a later turn.
final class LateCall {
  /// The source whose value the call waits for, which may never come; `nil` if it waits for work.
  let source: String?

  /// Whether the answer may be as long as a line.
  let isLong: Bool

  /// Whether the call has had a lasting effect.
  var hasBegun = false

  /// Whether the call was answered.
  private(set) var isOver = false

  /// The work for this call.
  ///
  /// It is disposed when the call is answered, by any path.
  let work = DisposeBag()

  init(waitingFor source: String?, isLong: Bool) {
    self.source = source
    self.isLong = isLong
  }

  func end() {
    isOver = true
    work.dispose()
  }
}
