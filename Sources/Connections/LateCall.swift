internal import Signals

/// A call from the turn in which it was asked to the later one in which it is answered.
final class LateCall {
  /// The source whose value it waits for, which may never come; `nil` for work that is done for it.
  let source: String?

  /// Whether the answer may be as long as a line.
  let isLong: Bool

  /// Whether something was done for it that stays, whatever becomes of the call.
  var hasBegun = false

  /// Whether it was answered.
  private(set) var isOver = false

  /// What is done for it; let go when it is answered, by whom it may be.
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
