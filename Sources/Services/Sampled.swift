package import Signals

/// A value that is measured, at an interval and only while somebody observes it.
package final class Sampled<Value: Equatable>: SignalProtocol {
  package typealias Element = Value
  package typealias Error = Never

  private let measure: () -> Value
  private let interval: Double
  private let scheduler: any Scheduler
  private let subject = PassthroughSubject<Value, Never>()
  private var last: Value?
  private var timer: (any Disposable)?

  /// - Parameters:
  ///   - interval: Seconds between measurements.
  ///   - measure: Called on the loop; it waits for nothing that may not come at once.
  package init(
    every interval: Double, on scheduler: any Scheduler, _ measure: @escaping () -> Value
  ) {
    self.interval = interval
    self.scheduler = scheduler
    self.measure = measure
  }

  /// The value now: the last one while somebody observes it, else one that is measured now.
  package var value: Value {
    if timer != nil, let last { return last }
    return measure()
  }

  /// Emits each value that differs from the one before, from now on.
  package var changes: Signal<Value, Never> {
    Signal { [self] observer in
      let observation = subject.observe(with: observer.on)
      if timer == nil { start() }
      return BlockDisposable { [self] in
        observation.dispose()
        if !subject.hasObservers { stop() }
      }
    }
  }

  /// Emits the value now, then each value that differs from the one before.
  package func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
    let run = changes.observe(with: observer)
    observer(.next(value))
    return run
  }

  /// The same for views, which share it.
  package var computed: Computed<Value> {
    Computed(Identity(self), changes: changes.map { _ in () }) { [self] in value }
  }

  /// Measures now, for those who observe.
  package func refresh() {
    guard timer != nil else { return }
    let value = measure()
    guard value != last else { return }
    last = value
    subject.send(value)
  }

  private func start() {
    last = measure()
    schedule()
  }

  private func schedule() {
    timer = scheduler.schedule(after: interval) { [weak self] in
      guard let self, timer != nil else { return }
      schedule()
      refresh()
    }
  }

  private func stop() {
    timer?.dispose()
    timer = nil
    last = nil
  }
}
