import Signals

/// An observer that stores all events.
final class Recorder<Element, Error: Swift.Error> {
  private(set) var events: [Signal<Element, Error>.Event] = []

  var elements: [Element] { events.compactMap(\.element) }

  /// Whether the last event was the completion.
  var isComplete: Bool { events.last?.isCompleted == true }

  func tell(_ event: Signal<Element, Error>.Event) {
    events.append(event)
  }
}

extension SignalProtocol {
  /// Returns all events that arrive before `observe` returns.
  func recorded() -> [Signal<Element, Error>.Event] {
    let recorder = Recorder<Element, Error>()
    observe(with: recorder.tell).dispose()
    return recorder.events
  }

  /// Returns the elements that arrive before `observe` returns.
  func elementsAtOnce() -> [Element] {
    recorded().compactMap(\.element)
  }
}
