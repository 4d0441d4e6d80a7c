internal import Signals

/// A call from the turn in which it was asked to the later one in which it is answered.
final class LateCall {
  /// Whether it waits for something that may never come, and not for work that is done for it.
  let isOpenEnded: Bool

  /// Whether it was answered.
  private(set) var isOver = false

  /// What is done for it; let go when it is answered, by whom it may be.
  let work = DisposeBag()

  init(isOpenEnded: Bool) {
    self.isOpenEnded = isOpenEnded
  }

  func end() {
    isOver = true
    work.dispose()
  }
}
