/// A hot source: sends each event to whoever observes at that moment.
///
/// Observers are told in the order in which they came. An event sent while another is being
/// delivered waits its turn, so every observer sees the same events in the same order. An observer
/// that comes during a delivery hears what is sent after it came, one that is disposed hears
/// nothing more, one that comes after the end is told of the end.
@usableFromInline
package class Subject<Element, Error: Swift.Error>: ObservedSource, SubjectProtocol {
  @usableFromInline
  package typealias Event = Signal<Element, Error>.Event

  /// An observer, `nil` when it has left.
  @usableFromInline
  struct Entry {
    @usableFromInline
    var observer: Observer<Element, Error>?
    @usableFromInline
    let observation: Observation

    @inlinable
    init(observer: @escaping Observer<Element, Error>, observation: Observation) {
      self.observer = observer
      self.observation = observation
    }
  }

  /// In the order in which they came; the closures are here so that a delivery touches no other
  /// object.
  @usableFromInline
  final var entries: ContiguousArray<Entry> = []
  /// Entries whose observer has left; an index stays valid during a delivery.
  @usableFromInline
  final var gaps = 0
  @usableFromInline
  final var isDelivering = false
  /// Sent during a delivery, each with the number of entries it is for.
  @usableFromInline
  final var waiting = Queue<(event: Event, audience: Int)>()
  @usableFromInline
  final var terminal: Event?
  @usableFromInline
  final let live = LiveNode("Subject")

  /// Disposed when the subject goes: for what lives as long as it.
  package private(set) final lazy var disposeBag = DisposeBag()

  /// Whether the end was sent.
  @usableFromInline
  package internal(set) final var isTerminated = false

  @inlinable
  package override init() {
    super.init()
  }

  @inlinable
  deinit {
    for entry in entries { entry.observation.end() }
  }

  /// Whether anybody observes.
  @inlinable
  package final var hasObservers: Bool { entries.count > gaps }

  @inlinable
  package final func send(_ element: Element) {
    on(.next(element))
  }

  @inlinable
  package final func on(_ event: Event) {
    guard !isTerminated else { return }
    if event.isTerminal {
      isTerminated = true
      terminal = event
    }
    willSend(event)
    guard !isDelivering else { return waiting.append((event, entries.count)) }
    isDelivering = true
    deliver(event, to: entries.count)
    endDelivery()
    didSend()
  }

  @inlinable
  package final func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    guard !isTerminated else { return observeEnded(with: observer) }
    let observation = Observation(of: self, at: entries.count) { source, index in
      (source as? Subject)?.remove(at: index)
    }
    entries.append(Entry(observer: observer, observation: observation))
    observersChanged()
    // A delivery like others: what is sent meanwhile comes after.
    let isOutermost = !isDelivering
    isDelivering = true
    replay(to: observer)
    if isOutermost { endDelivery() }
    return observation
  }

  /// Called with each event when it is sent, before anybody is told.
  @usableFromInline
  func willSend(_ event: Event) {}

  /// Called when an event, and what was sent meanwhile, is delivered.
  @usableFromInline
  func didSend() {}

  /// Tells a new observer what it missed, without the terminal event.
  @usableFromInline
  func replay(to observer: Observer<Element, Error>) {}
}
