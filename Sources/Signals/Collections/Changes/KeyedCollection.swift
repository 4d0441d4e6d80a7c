/// A collection without an order, whose elements have keys.
package protocol KeyedCollection: Collection {
  associatedtype ElementKey: Hashable

  /// Returns the key of an element.
  static func key(of element: Element) -> ElementKey

  /// Returns the element with a key; `nil` if there is none.
  func element(at key: ElementKey) -> Element?

  /// Inserts an element, replacing the one with the same key.
  mutating func put(_ element: Element)

  /// Removes and returns the element with a key; `nil` if there is none.
  mutating func take(_ key: ElementKey) -> Element?

  /// Removes all elements.
  mutating func takeAll()
}

extension KeyedCollection {
  /// Applies an operation.
  package mutating func apply(_ operation: UnorderedCollectionOperation<Element, ElementKey>) {
    switch operation {
    case .insert(let element, _), .update(_, let element): put(element)
    case .delete(let key): _ = take(key)
    }
  }

  /// Applies operations in order.
  package mutating func apply(_ patch: [UnorderedCollectionOperation<Element, ElementKey>]) {
    for operation in patch { apply(operation) }
  }
}

extension Set: KeyedCollection {
  package static func key(of element: Element) -> Element { element }

  package func element(at key: Element) -> Element? { contains(key) ? key : nil }

  package mutating func put(_ element: Element) { update(with: element) }

  package mutating func take(_ key: Element) -> Element? { remove(key) }

  package mutating func takeAll() { removeAll() }
}

extension Dictionary: KeyedCollection {
  package static func key(of element: Element) -> Key { element.key }

  package func element(at key: Key) -> Element? { self[key].map { (key, $0) } }

  package mutating func put(_ element: Element) { self[element.key] = element.value }

  package mutating func take(_ key: Key) -> Element? { removeValue(forKey: key).map { (key, $0) } }

  package mutating func takeAll() { removeAll() }
}
