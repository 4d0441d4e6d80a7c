/// A signal that is told what to send.
package protocol SubjectProtocol<Element, Error>: SignalProtocol {
  /// Sends an event to whoever observes.
  func on(_ event: Signal<Element, Error>.Event)
}

extension SubjectProtocol {
  /// Sends an element.
  package func send(_ element: Element) {
    on(.next(element))
  }
}

/// A hot source: sends each event to whoever observes at that moment.
///
/// Observers are told in the order in which they came. An event sent while another is being
/// delivered waits its turn, so every observer sees the same events in the same order. An observer
/// that comes during a delivery gets the next event first, one that is disposed hears nothing more,
/// one that comes after the end is told of the end.
package final class PassthroughSubject<Element, Error: Swift.Error>: SubjectProtocol {
  package typealias Event = Signal<Element, Error>.Event

  private var slots: [Slot] = []
  private var waiting: [Event] = []
  private var isDelivering = false
  private var hasGaps = false
  private var terminal: Event?

  package init() {}

  /// Whether anybody observes.
  package var hasObservers: Bool { slots.contains { $0.observer != nil } }

  package func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    if let terminal {
      observer(terminal)
      return NonDisposable.instance
    }
    let slot = Slot(observer, in: self)
    slots.append(slot)
    return slot
  }

  package func on(_ event: Event) {
    guard terminal == nil else { return }
    guard !isDelivering else { return waiting.append(event) }
    isDelivering = true
    deliver(event)
    // Rare: an observer has sent.
    if !waiting.isEmpty { deliverWaiting() }
    isDelivering = false
    if hasGaps { close() }
  }

  private func deliverWaiting() {
    var i = 0
    while i < waiting.count, terminal == nil {
      deliver(waiting[i])
      i += 1
    }
    waiting = []
  }

  private func deliver(_ event: Event) {
    if event.isTerminal { terminal = event }
    for i in 0..<slots.count {
      let slot = slots[i]  // the array may grow during the call
      slot.observer?(event)
    }
    if event.isTerminal {
      let ended = slots
      slots = []
      for slot in ended { slot.dispose() }
    }
  }

  /// Drops the slots of disposed observers.
  private func close() {
    hasGaps = false
    slots.removeAll { $0.observer == nil }
  }

  fileprivate func remove(_ slot: Slot) {
    if isDelivering {
      hasGaps = true  // the delivery goes by index
    } else if let i = slots.lastIndex(where: { $0 === slot }) {
      slots.remove(at: i)
    }
  }

  /// One observer, and what ends its observation.
  fileprivate final class Slot: Disposable {
    var observer: Observer<Element, Error>?
    private weak var subject: PassthroughSubject?

    init(_ observer: @escaping Observer<Element, Error>, in subject: PassthroughSubject) {
      self.observer = observer
      self.subject = subject
    }

    var isDisposed: Bool { observer == nil }

    func dispose() {
      guard let observer else { return }
      self.observer = nil
      subject?.remove(self)
      // Last, because what the observer held may end with it and come back here.
      withExtendedLifetime(observer) {}
    }
  }
}
