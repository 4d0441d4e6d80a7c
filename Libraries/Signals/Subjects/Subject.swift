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
  /// The number of observers; with it, code that is not specialized need not look at the entries.
  @usableFromInline
  final var observerCount = 0
  /// The number of entries whose observer is disposed; they stay to keep indices valid.
  @inlinable
  final var gaps: Int { entries.count - observerCount }
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
  public final var hasObservers: Bool { observerCount > 0 }

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
    observerCount += 1
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

extension Subject {
  @inlinable
  func deliver(_ event: Event, to audience: Int) {
    var i = 0
    while i < audience {
      // Read the entry each time: a call may grow the array or set observers to `nil`.
      if let observer = entries[i].observer { observer(event) }
      i += 1
    }
  }

  /// Delivers the events sent in the meantime, and removes the entries of disposed observers.
  @inlinable
  func endDelivery() {
    if !waiting.isEmpty { deliverWaiting() }
    isDelivering = false
    if isTerminated { removeAll() } else if gaps > 0 { closeGaps() }
  }

  @usableFromInline
  func deliverWaiting() {
    var count = 0
    while let (event, audience) = waiting.popFirst() {
      count += 1
      precondition(count < 200_000, "an observer of \(Self.self) answers itself without end")
      deliver(event, to: audience)
    }
  }

  /// Completes the observers from `deinit`, when no observer may call back to the subject.
  @usableFromInline
  func completeInDeinit() {
    guard !isTerminated else { return }
    hasEnded = true
    for entry in entries { entry.observation.source = nil }
    for entry in entries where entry.observation.isLive { entry.observer?(.completed) }
  }

  @usableFromInline
  func observeEnded(with observer: Observer<Element, Error>) -> any Disposable {
    replay(to: observer)
    if let terminal { observer(terminal) }
    return EndedDisposable()
  }

  @inlinable
  func remove(at index: Int) {
    let observer = entries[index].observer
    entries[index].observer = nil
    observerCount -= 1
    if !isDelivering { closeGaps() }
    observersChanged()
    // Release the observer last: objects that it retained may be deallocated here and call back.
    withExtendedLifetime(observer) {}
  }

  /// Releases all observers after the terminal event.
  @usableFromInline
  func removeAll() {
    guard !entries.isEmpty else { return }
    let ended = entries
    entries = []
    observerCount = 0
    for entry in ended { entry.observation.end() }
    observersChanged()
  }

  /// Removes gaps at the end at once, and the others when they make up half of the entries.
  ///
  /// Disposal is therefore amortized O(1).
  @inlinable
  func closeGaps() {
    while let last = entries.last, last.observer == nil {
      entries.removeLast()
    }
    if gaps > 0, gaps >= entries.count / 2 { compact() }
  }

  @usableFromInline
  func compact() {
    entries.removeAll { $0.observer == nil }
    for i in entries.indices { entries[i].observation.index = i }
  }
}

/// A signal whose events are sent from outside.
public protocol SubjectProtocol<Element, Error>: SignalProtocol, ObserverProtocol {}

extension SubjectProtocol {
  /// Sends an element.
  @inlinable
  public func send(_ element: Element) {
    on(.next(element))
  }

  /// Sends the terminal event.
  @inlinable
  public func send(completion: Subscribers.Completion<Error>) {
    on(.init(completion))
  }

  /// Sends the last element, then completes.
  @inlinable
  public func send(lastElement element: Element) {
    on(.next(element))
    on(.completed)
  }
}

extension SubjectProtocol where Element == Void {
  /// Sends an element without a value.
  @inlinable
  public func send() {
    on(.next(()))
  }
}

/// A subject that replays nothing to later observers, except the terminal event.
public final class PassthroughSubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  @inlinable
  public override init() {
    super.init()
  }
}

/// A subject with a separate set of observers for each key.
///
/// Sending an element costs only the observers of its key, however many keys are observed.
public final class KeyedSubject<Key: Hashable, Element> {
  private typealias Elements = PassthroughSubject<Element, Never>

  private var subjects: [Key: Elements] = [:]
  /// The number of observed keys; see ``Subject/observerCount``.
  private var count = 0

  /// Creates a subject without observers.
  public init() {}

  /// Whether no key has observers.
  public var isEmpty: Bool { count == 0 }

  /// The keys that have observers, in no particular order.
  public var keys: some Collection<Key> { subjects.keys }

  /// Sends an element to the observers of `key`.
  public func send(_ element: Element, to key: Key) { subjects[key]?.send(element) }

  /// Returns a signal of the elements sent to `key` after a run has started.
  public func elements(of key: Key) -> SafeSignal<Element> {
    SafeSignal { [self] observer in
      let subject = subject(of: key)
      let observation = subject.observe(with: observer.on)
      return BlockDisposable { [weak self, weak subject] in
        observation.dispose()
        guard let self, let subject else { return }
        guard !subject.hasObservers, subjects[key] === subject else { return }
        subjects[key] = nil
        count -= 1
      }
    }
  }

  private func subject(of key: Key) -> Elements {
    if let subject = subjects[key] { return subject }
    let subject = Elements()
    subjects[key] = subject
    count += 1
    return subject
  }
}

/// The disposable of one observation of a subject.
///
/// It is not generic, so that disposing it through `any Disposable` runs code specialized for the
/// subject. `leave` is created where that type is known, and captures nothing.
@usableFromInline
final class Observation: Disposable {
  /// The subject, or `nil` after the end.
  ///
  /// A subject clears this before it is deallocated.
  @usableFromInline
  unowned var source: ObservedSource?
  /// The index of the observer in the subject's entries.
  @usableFromInline
  var index: Int
  @usableFromInline
  var isLive = true
  @usableFromInline
  let leave: (ObservedSource, Int) -> Void
  @usableFromInline
  let live = LiveNode("Observation")

  @inlinable
  init(
    of source: ObservedSource, at index: Int, leave: @escaping (ObservedSource, Int) -> Void
  ) {
    self.source = source
    self.index = index
    self.leave = leave
  }

  @usableFromInline
  var isDisposed: Bool { !isLive }

  @usableFromInline
  func dispose() {
    guard isLive else { return }
    isLive = false
    guard let source else { return }
    self.source = nil
    leave(source, index)
  }

  /// Marks the observation as ended, because the subject has ended or is being deallocated.
  @usableFromInline
  func end() {
    isLive = false
    source = nil
  }
}

/// The untyped base of a subject: it propagates changes to derived values.
///
/// A change propagates in two steps, so that no derived value is computed twice or from a mixture
/// of old and new. First all dependents are marked. Then each is computed once all its sources have
/// settled. Reading a marked value computes it at once. A value with a single dependent notifies it
/// at once, because paths can diverge only below that.
///
/// It is not generic, so that propagation runs no generic code except computing and delivering
/// values.
public class ObservedSource {
  /// A number that increases with each change, so that derived values can detect stale inputs.
  @usableFromInline
  final var version = 0
  /// The links from observed derived values to this one.
  @usableFromInline
  final var links: ContiguousArray<DerivedLink> = []
  /// The marked links: a change was announced to them and has not settled.
  @usableFromInline
  final var marked: ContiguousArray<DerivedLink> = []

  @inlinable
  init() {}

  /// Brings the value up to date, if it is derived.
  @usableFromInline
  func refresh() {}

  /// Called when an observer or a link was added or removed.
  @usableFromInline
  func observersChanged() {}

  /// Announces to all dependents that the value may change.
  @usableFromInline
  final func mark() {
    guard marked.isEmpty else { return }
    marked = links
    for link in marked { link.dependent?.sourceMayChange() }
  }

  /// Notifies the marked dependents, or the only dependent, that the value has settled.
  @usableFromInline
  final func finishChange() {
    if marked.isEmpty {
      guard links.count > 1 else { return links.first?.dependent?.tellChange() ?? () }
      mark()  // a dependent was added during the delivery
    }
    let settled = marked
    marked = []
    for link in settled { link.dependent?.sourceSettled() }
  }

  /// Notifies all dependents that the value will not change any more.
  @usableFromInline
  final func endLinks() {
    let ended = links
    links = []
    for link in ended { link.end() }
  }
}
