/// Turns recursion into a loop: a step that requests the next step while it runs uses no stack.
final class Trampoline {
  private var isRunning = false
  private var isAsked = false

  /// Runs `step` in a loop until no further step was requested.
  ///
  /// A call from within a step only requests one more round of the outermost `step`.
  func bounce(_ step: () -> Void) {
    isAsked = true
    guard !isRunning else { return }
    isRunning = true
    while isAsked {
      isAsked = false
      step()
    }
    isRunning = false
  }
}
