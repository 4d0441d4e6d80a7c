extension Signal {
  /// Emits an element after so many seconds and completes.
  package init(just element: Element, after interval: Double, queue scheduler: any Scheduler) {
    self = Signal(just: element).delay(interval: interval, on: scheduler)
  }

  /// Emits the next element of a sequence every so many seconds and completes in place of the one
  /// after the last.
  package init<Elements: Sequence<Element>>(
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
  /// Emits 0, 1, 2 and so on, one every so many seconds.
  package static func interval(_ seconds: Double, queue scheduler: any Scheduler) -> Signal {
    Signal(sequence: 0..., interval: seconds, queue: scheduler)
  }
}
