package import Signals

/// An observer that stores all events.
package final class Recorder<Element, Error: Swift.Error> {
  package private(set) var events: [Signal<Element, Error>.Event] = []

  package init() {}

  package var elements: [Element] { events.compactMap(\.element) }

  /// Whether the last event was the completion.
  package var isComplete: Bool { events.last?.isCompleted == true }

  package func tell(_ event: Signal<Element, Error>.Event) {
    events.append(event)
  }
}

extension SignalProtocol {
  /// Returns all events that arrive before `observe` returns.
  package func recorded() -> [Signal<Element, Error>.Event] {
    let recorder = Recorder<Element, Error>()
    observe(with: recorder.tell).dispose()
    return recorder.events
  }

  /// Returns the elements that arrive before `observe` returns.
  package func elementsAtOnce() -> [Element] {
    recorded().compactMap(\.element)
  }
}

/// The error of the tests.
package struct Broken: Error, Equatable {
  package init() {}
}
