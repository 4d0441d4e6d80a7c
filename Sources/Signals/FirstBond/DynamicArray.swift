/// What has changed in an array: the places are those after the change, of what was removed those
/// before it.
package enum DynamicArrayChange<Element> {
  case inserted([Int], [Element])
  case removed([Int], [Element])
  case updated([Int], [Element])
  /// All of it may be another.
  case reset([Element])
}

/// An array that bonds follow, element by element if they like.
package final class DynamicArray<Element>: Dynamic<[Element]> {
  private let changed = PassthroughSubject<DynamicArrayChange<Element>, Never>()
  /// Whether what is told as a whole was told as a change already.
  private var isTold = false
  /// Holds what it is made from.
  private var source: AnyObject?

  package override init(_ array: [Element] = []) {
    super.init(array)
  }

  /// Each change, after it was made.
  package var changes: SafeSignal<DynamicArrayChange<Element>> { changed.toSignal() }

  package var count: Int { stored.count }
  package var isEmpty: Bool { stored.isEmpty }
  package var first: Element? { stored.first }
  package var last: Element? { stored.last }

  package subscript(index: Int) -> Element {
    get { stored[index] }
    set { change(.updated([index], [newValue])) { $0[index] = newValue } }
  }

  /// Adds an element as the last.
  package func append(_ element: Element) {
    insert(element, atIndex: count)
  }

  /// Adds elements as the last.
  package func append(_ elements: [Element]) {
    splice(elements, atIndex: count)
  }

  /// Puts an element in front of the one at a place.
  package func insert(_ element: Element, atIndex index: Int) {
    change(.inserted([index], [element])) { $0.insert(element, at: index) }
  }

  /// Puts elements in front of the one at a place.
  package func splice(_ elements: [Element], atIndex index: Int) {
    guard !elements.isEmpty else { return }
    change(.inserted(Array(index..<index + elements.count), elements)) {
      $0.insert(contentsOf: elements, at: index)
    }
  }

  /// Takes an element away.
  @discardableResult
  package func removeAtIndex(_ index: Int) -> Element {
    let element = stored[index]
    change(.removed([index], [element])) { $0.remove(at: index) }
    return element
  }

  /// Takes the last element away; there has to be one.
  @discardableResult
  package func removeLast() -> Element {
    removeAtIndex(count - 1)
  }

  /// Takes all elements away.
  package func removeAll(_ keepCapacity: Bool = false) {
    guard !isEmpty else { return }
    change(.removed(Array(stored.indices), stored)) {
      $0.removeAll(keepingCapacity: keepCapacity)
    }
  }

  /// The array whose elements are always `transform` of those of this one; it holds this one.
  ///
  /// `transform` is called once for each element that comes.
  package func map<Output>(_ transform: @escaping (Element) -> Output) -> DynamicArray<Output> {
    let derived = DynamicArray<Output>(stored.map(transform))
    derived.source = self
    _ = changed.map { $0.map(transform) }.bind(to: derived) { derived, change in
      (derived as? DynamicArray<Output>)?.apply(change)
    }
    return derived
  }

  private func apply(_ change: DynamicArrayChange<Element>) {
    switch change {
    case .inserted(let indices, let elements):
      self.change(change) { array in
        for (i, element) in Swift.zip(indices, elements) { array.insert(element, at: i) }
      }
    case .removed(let indices, _):
      // What was made of them, not what would be made of them now.
      self.change(.removed(indices, indices.map { stored[$0] })) { array in
        for i in indices.reversed() { array.remove(at: i) }
      }
    case .updated(let indices, let elements):
      self.change(change) { array in
        for (i, element) in Swift.zip(indices, elements) { array[i] = element }
      }
    case .reset(let elements): value = elements
    }
  }

  private func change(
    _ change: DynamicArrayChange<Element>, _ body: (inout [Element]) -> Void
  ) {
    body(&stored)
    changed.send(change)
    isTold = true
    on(.next(stored))
    isTold = false
  }

  override func willSend(_ event: Event) {
    super.willSend(event)
    if case .next(let array) = event, !isTold { changed.send(.reset(array)) }
  }
}

extension DynamicArrayChange {
  /// The same change of what is made of each element; of removed ones only the places are kept.
  fileprivate func map<Output>(
    _ transform: (Element) -> Output
  ) -> DynamicArrayChange<Output> {
    switch self {
    case .inserted(let indices, let elements): .inserted(indices, elements.map(transform))
    case .removed(let indices, _): .removed(indices, [])
    case .updated(let indices, let elements): .updated(indices, elements.map(transform))
    case .reset(let elements): .reset(elements.map(transform))
    }
  }
}
