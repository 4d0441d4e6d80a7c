/// The context in which the closure of a binding runs: immediately or deferred.
package struct ExecutionContext {
  /// Runs a closure, now or later.
  package let context: (@escaping () -> Void) -> Void

  package init(_ context: @escaping (@escaping () -> Void) -> Void) {
    self.context = context
  }

  /// A context that runs closures immediately.
  package static var immediate: ExecutionContext { ExecutionContext { $0() } }

  /// Returns a context that runs closures in a call from a scheduler.
  package static func scheduler(_ scheduler: any Scheduler) -> ExecutionContext {
    ExecutionContext { scheduler.schedule($0) }
  }

  /// Runs `block` in this context.
  package func execute(_ block: @escaping () -> Void) {
    context(block)
  }
}
