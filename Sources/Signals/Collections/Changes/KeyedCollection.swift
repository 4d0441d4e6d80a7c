/// A collection without an order, whose elements have keys.
public protocol KeyedCollection: Collection {
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
  public mutating func apply(_ operation: UnorderedCollectionOperation<Element, ElementKey>) {
    switch operation {
    case .insert(let element, _), .update(_, let element): put(element)
    case .delete(let key): _ = take(key)
    }
  }

  /// Applies operations in order.
  public mutating func apply(_ patch: [UnorderedCollectionOperation<Element, ElementKey>]) {
    for operation in patch { apply(operation) }
  }
}

extension Set: KeyedCollection {
  public static func key(of element: Element) -> Element { element }

  public func element(at key: Element) -> Element? { contains(key) ? key : nil }

  public mutating func put(_ element: Element) { update(with: element) }

  public mutating func take(_ key: Element) -> Element? { remove(key) }

  public mutating func takeAll() { removeAll() }
}

extension Dictionary: KeyedCollection {
  public static func key(of element: Element) -> Key { element.key }

  public func element(at key: Key) -> Element? { self[key].map { (key, $0) } }

  public mutating func put(_ element: Element) { self[element.key] = element.value }

  public mutating func take(_ key: Key) -> Element? { removeValue(forKey: key).map { (key, $0) } }

  public mutating func takeAll() { removeAll() }
}
