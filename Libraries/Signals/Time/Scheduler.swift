/// A source of delayed calls, and the only clock of signals.
public protocol Scheduler: AnyObject {
  /// Calls `action` once, on the thread of the signals.
  ///
  /// Actions that are due at the same moment run in the order in which they were scheduled.
  ///
  /// - Parameter seconds: The delay from now, by a monotonic clock.
  /// - Returns: A disposable that cancels the call.
  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable
}

extension Scheduler {
  /// Calls `action` after the code that is currently running.
  @discardableResult
  public func schedule(_ action: @escaping () -> Void) -> any Disposable {
    schedule(after: 0, action)
  }
}

/// A scheduler that its caller runs step by step.
public protocol RunnableScheduler: Scheduler {
  /// Waits for the next action and runs it; returns `false` if no action is scheduled.
  func runNext() -> Bool
}

/// The context in which the closure of a binding runs: immediately or deferred.
public struct ExecutionContext {
  /// Runs a closure, now or later.
  public let context: (@escaping () -> Void) -> Void

  /// Creates a context from a closure that runs other closures, now or later.
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

extension Signal {
  /// Creates a signal that emits an element after `interval` seconds and completes.
  public init(just element: Element, after interval: Double, queue scheduler: any Scheduler) {
    self = Signal(just: element).delay(interval: interval, on: scheduler)
  }

  /// Creates a signal that emits the next element of a sequence every `interval` seconds.
  ///
  /// It completes one interval after the last element.
  public init<Elements: Sequence<Element>>(
    sequence: Elements, interval: Double, queue scheduler: any Scheduler
  ) {
    self.init { observer in
      var iterator = sequence.makeIterator()
      let timer = SerialDisposable(otherDisposable: nil)
      func wait() {
        timer.otherDisposable = scheduler.schedule(after: interval) {
          guard let element = iterator.next() else { return observer.complete() }
          observer.receive(element)
          if !observer.isDisposed { wait() }
        }
      }
      wait()
      return timer
    }
  }
}

extension Signal where Element == Int {
  /// Returns a signal that emits 0, 1, 2 and so on, one every given number of seconds.
  public static func interval(_ seconds: Double, queue scheduler: any Scheduler) -> Signal {
    Signal(sequence: 0..., interval: seconds, queue: scheduler)
  }
}

extension SignalProtocol {
  /// Runs the scheduler until the signal has ended, and returns all its events.
  ///
  /// Returns without a terminal event if the scheduler has nothing more to run.
  public func waitAndCollectEvents(
    on scheduler: any RunnableScheduler
  ) -> [Signal<Element, Error>.Event] {
    var events: [Signal<Element, Error>.Event] = []
    let run = observe { events.append($0) }
    while events.last?.isTerminal != true, scheduler.runNext() {}
    run.dispose()
    return events
  }

  /// Runs the scheduler until the signal has ended, and returns all its elements.
  public func waitAndCollectElements(on scheduler: any RunnableScheduler) -> [Element] {
    waitAndCollectEvents(on: scheduler).compactMap(\.element)
  }
}
