/// Elements for those who observe a key: one costs what the observers of its key cost, however many
/// keys are observed.
package final class KeyedSubject<Key: Hashable, Element> {
  private typealias Elements = PassthroughSubject<Element, Never>

  private var subjects: [Key: Elements] = [:]

  package init() {}

  /// Whether no key is observed.
  package var isEmpty: Bool { subjects.isEmpty }

  /// The keys that are observed, in any order.
  package var keys: some Collection<Key> { subjects.keys }

  /// Tells the observers of a key.
  package func send(_ element: Element, to key: Key) { subjects[key]?.send(element) }

  /// The elements of a key from now on.
  package func elements(of key: Key) -> SafeSignal<Element> {
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
