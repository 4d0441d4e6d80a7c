package import Signals

/// A value that is polled at an interval, only while observed.
package final class PolledValue<Value: Equatable>: SignalProtocol {
  package typealias Element = Value
  package typealias Error = Never

  private let measure: () -> Value
  private let begin: () -> any Disposable
  private let interval: Double
  private let scheduler: any Scheduler
  private let subject = PassthroughSubject<Value, Never>()
  private var last: Value?
  private var timer: (any Disposable)?
  private var preparation: (any Disposable)?

  /// - Parameters:
  ///   - interval: Seconds between measurements.
  ///   - begin: Prepares the measurements when the first observer arrives. The result is disposed
  ///     when the last one leaves.
  ///   - measure: Takes a measurement. Called on the loop, so it must not block.
  package init(
    every interval: Double, on scheduler: any Scheduler,
    whileObserved begin: @escaping () -> any Disposable = { BlockDisposable {} },
    _ measure: @escaping () -> Value
  ) {
    self.begin = begin
    self.interval = interval
    self.scheduler = scheduler
    self.measure = measure
  }

  /// The current value: the last one while observed, otherwise a new measurement.
  package var value: Value {
    if timer != nil, let last { return last }
    return measure()
  }

  /// Emits each changed value, from now on.
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

  /// Emits the current value, then each changed value.
  package func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
    let run = changes.observe(with: observer)
    observer(.next(value))
    return run
  }

  /// The value for views, which share it.
  package var computed: Computed<Value> {
    Computed(Identity(self), changes: changes.map { _ in () }) { [self] in value }
  }

  /// Takes a measurement now if there are observers.
  package func refresh() {
    guard timer != nil else { return }
    let value = measure()
    guard value != last else { return }
    last = value
    subject.send(value)
  }

  private func start() {
    preparation = begin()
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
    preparation?.dispose()
    preparation = nil
  }
}
