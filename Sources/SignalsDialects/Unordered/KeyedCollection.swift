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
  /// Returns the element itself, which is its own key.
  public static func key(of element: Element) -> Element { element }

  /// Returns `key` if it is a member, otherwise `nil`.
  public func element(at key: Element) -> Element? { contains(key) ? key : nil }

  /// Inserts a member, replacing an equal one.
  public mutating func put(_ element: Element) { update(with: element) }

  /// Removes and returns a member; `nil` if there is none.
  public mutating func take(_ key: Element) -> Element? { remove(key) }

  /// Removes all members.
  public mutating func takeAll() { removeAll() }
}

extension Dictionary: KeyedCollection {
  /// Returns the key of an entry.
  public static func key(of element: Element) -> Key { element.key }

  /// Returns the entry with a key; `nil` if there is none.
  public func element(at key: Key) -> Element? { self[key].map { (key, $0) } }

  /// Inserts an entry, replacing the one with the same key.
  public mutating func put(_ element: Element) { self[element.key] = element.value }

  /// Removes and returns the entry with a key; `nil` if there is none.
  public mutating func take(_ key: Key) -> Element? { removeValue(forKey: key).map { (key, $0) } }

  /// Removes all entries.
  public mutating func takeAll() { removeAll() }
}
