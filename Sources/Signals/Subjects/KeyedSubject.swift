/// A subject with a separate set of observers for each key.
///
/// Sending an element costs only the observers of its key, however many keys are observed.
public final class KeyedSubject<Key: Hashable, Element> {
  private typealias Elements = PassthroughSubject<Element, Never>

  private var subjects: [Key: Elements] = [:]

  public init() {}

  /// Whether no key has observers.
  public var isEmpty: Bool { subjects.isEmpty }

  /// The keys that have observers, in no particular order.
  public var keys: some Collection<Key> { subjects.keys }

  /// Sends an element to the observers of `key`.
  public func send(_ element: Element, to key: Key) { subjects[key]?.send(element) }

  /// Returns a signal of the elements sent to `key` after a run has started.
  public func elements(of key: Key) -> SafeSignal<Element> {
    SafeSignal { [self] observer in
      let subject = subjects[key] ?? Elements()
      subjects[key] = subject
      let observation = subject.observe(with: observer.on)
      return BlockDisposable { [weak self, weak subject] in
        observation.dispose()
        guard let self, let subject else { return }
        if !subject.hasObservers, subjects[key] === subject { subjects[key] = nil }
      }
    }
  }
}
