public import Facts

/// A hot source: it sends each event to its current observers.
///
/// Observers are called in the order of subscription. An event sent during a delivery waits until
/// that delivery is done, so that all observers see the same order. An observer added during a
/// delivery receives only events sent after it was added. A disposed observer receives nothing
/// more. An observer added after the end receives the terminal event.
public class Subject<Element, Error: Swift.Error>: ObservedSource, SubjectProtocol {
  /// The type of the events.
  public typealias Event = Signal<Element, Error>.Event

  /// An observer, `nil` once it is disposed, with its observation.
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

  /// The observers in the order of subscription; the closures are inline so that a delivery touches
  /// no other object.
  @usableFromInline
  final var entries: ContiguousArray<Entry> = []
  /// The number of entries whose observer is disposed; they stay to keep indices valid.
  @usableFromInline
  final var gaps = 0
  @usableFromInline
  final var isDelivering = false
  /// The events sent during a delivery, each with the number of entries that it is for.
  @usableFromInline
  final var waiting = Queue<(event: Event, audience: Int)>()
  @usableFromInline
  final var terminal: Event?
  @usableFromInline
  final let live = LiveNode("Subject")

  /// A bag that is disposed when the subject is deallocated.
  public private(set) final lazy var disposeBag = DisposeBag()

  /// Whether the terminal event was sent.
  public final var isTerminated: Bool { hasEnded }
  @usableFromInline final var hasEnded = false

  @inlinable
  public override init() {
    super.init()
  }

  @inlinable
  deinit {
    for entry in entries { entry.observation.end() }
  }

  /// Whether the subject has observers.
  @inlinable
  public final var hasObservers: Bool { entries.count > gaps }

  /// Sends an element to the observers.
  @inlinable
  public final func send(_ element: Element) {
    on(.next(element))
  }

  /// Sends an event to the observers; after the terminal event it does nothing.
  @inlinable
  public final func on(_ event: Event) {
    guard !isTerminated else { return }
    if event.isTerminal {
      hasEnded = true
      terminal = event
    }
    willSend(event)
    guard !isDelivering else { return waiting.append((event, entries.count)) }
    isDelivering = true
    deliver(event, to: entries.count)
    endDelivery()
    didSend()
  }

  /// Adds an observer; elements to replay are sent to it at once.
  @inlinable
  public final func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    guard !isTerminated else { return observeEnded(with: observer) }
    let observation = Observation(of: self, at: entries.count) { source, index in
      (source as? Subject)?.remove(at: index)
    }
    entries.append(Entry(observer: observer, observation: observation))
    observersChanged()
    // Replaying counts as a delivery: events sent in the meantime come after it.
    let isOutermost = !isDelivering
    isDelivering = true
    replay(to: observer)
    guard isOutermost else { return observation }
    let hasSent = !waiting.isEmpty
    endDelivery()
    if hasSent { didSend() }
    return observation
  }

  /// Called with each event when it is sent, before any observer is called.
  @usableFromInline
  func willSend(_ event: Event) {}

  /// Called after an event, and all events sent in the meantime, were delivered.
  @usableFromInline
  func didSend() {}

  /// Sends past elements to a new observer, without the terminal event.
  @usableFromInline
  func replay(to observer: Observer<Element, Error>) {}
}
