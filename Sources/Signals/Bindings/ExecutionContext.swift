/// The context in which the closure of a binding runs: immediately or deferred.
public struct ExecutionContext {
  /// Runs a closure, now or later.
  public let context: (@escaping () -> Void) -> Void

  public init(_ context: @escaping (@escaping () -> Void) -> Void) {
    self.context = context
  }

  /// A context that runs closures immediately.
  public static var immediate: ExecutionContext { ExecutionContext { $0() } }

  /// Returns a context that runs closures in a call from a scheduler.
  public static func scheduler(_ scheduler: any Scheduler) -> ExecutionContext {
    ExecutionContext { scheduler.schedule($0) }
  }

  /// Runs `block` in this context.
  public func execute(_ block: @escaping () -> Void) {
    context(block)
  }
}
