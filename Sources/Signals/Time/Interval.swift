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
