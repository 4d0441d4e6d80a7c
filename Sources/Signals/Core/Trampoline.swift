/// Takes a step again as often as it is asked to, in a loop: a step that asks for the next one,
/// while it runs, costs no stack.
final class Trampoline {
  private var isRunning = false
  private var isAsked = false

  /// Takes `step`, after the one that is being taken if one is.
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
