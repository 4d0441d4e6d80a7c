/// Where the closure of a binding runs: at once, or when somebody else runs it.
package struct ExecutionContext {
  /// Takes what is to be run.
  package let context: (@escaping () -> Void) -> Void

  package init(_ context: @escaping (@escaping () -> Void) -> Void) {
    self.context = context
  }

  /// At once.
  package static var immediate: ExecutionContext { ExecutionContext { $0() } }

  /// In a call of a scheduler.
  package static func scheduler(_ scheduler: any Scheduler) -> ExecutionContext {
    ExecutionContext { scheduler.schedule($0) }
  }

  /// Runs `block` there.
  package func execute(_ block: @escaping () -> Void) {
    context(block)
  }
}
