public import Signals

/// A set or a dictionary with its changes.
public protocol UnorderedCollectionChangesetProtocol: ChangesetProtocol
where
  Collection: KeyedCollection,
  Operation == UnorderedCollectionOperation<Collection.Element, Collection.ElementKey>,
  Diff == UnorderedCollectionDiff<Collection.ElementKey>
{
  /// The changeset as its concrete type.
  var asUnorderedCollectionChangeset: UnorderedCollectionChangeset<Collection> { get }
}

/// A set or a dictionary with its changes.
public struct UnorderedCollectionChangeset<Collection: KeyedCollection>:
  UnorderedCollectionChangesetProtocol
{
  /// The type of the operations on the set or dictionary.
  public typealias Operation = UnorderedCollectionOperation<
    Collection.Element, Collection.ElementKey
  >
  /// The type of the net change.
  public typealias Diff = UnorderedCollectionDiff<Collection.ElementKey>

  /// The collection after the changes.
  public let collection: Collection
  /// The changes, in the form in which they were made.
  public let changes: Changes<Operation, Diff>

  /// Creates a changeset from a collection and the changes that led to it.
  public init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  /// Returns the net change of `patch`.
  public static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  /// Returns the operations for a diff that leads to `collection`.
  public static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  /// The changeset itself.
  public var asUnorderedCollectionChangeset: UnorderedCollectionChangeset { self }
}

/// An operation on a set or a dictionary; the operations of a patch are applied in order.
///
/// Elements have no stable index, so an operation names the key. In a set, the key is the member.
public enum UnorderedCollectionOperation<Element, Key> {
  case insert(Element, at: Key)
  case delete(at: Key)
  case update(at: Key, newElement: Element)
}

extension UnorderedCollectionOperation {
  /// Returns the operation with its element transformed.
  public func mapElement<Output>(
    _ transform: (Element) -> Output
  ) -> UnorderedCollectionOperation<Output, Key> {
    switch self {
    case .insert(let element, let key): .insert(transform(element), at: key)
    case .delete(let key): .delete(at: key)
    case .update(let key, let element): .update(at: key, newElement: transform(element))
    }
  }
}

extension UnorderedCollectionOperation: Equatable where Element: Equatable, Key: Equatable {}

/// The net change of a set or a dictionary; each key occurs at most once.
public struct UnorderedCollectionDiff<Key>: CollectionDiffProtocol {
  /// The inserted keys.
  public var inserts: [Key]
  /// The deleted keys.
  public var deletes: [Key]
  /// The keys whose elements were replaced.
  public var updates: [Key]

  /// Creates an empty diff.
  public init() {
    self.init(inserts: [])
  }

  /// Creates a diff from the keys of its changes.
  public init(inserts: [Key] = [], deletes: [Key] = [], updates: [Key] = []) {
    self.inserts = inserts
    self.deletes = deletes
    self.updates = updates
  }

  /// Whether it describes no change.
  public var isEmpty: Bool { count == 0 }

  /// The number of changes.
  public var count: Int { inserts.count + deletes.count + updates.count }

  /// Returns a diff with each key transformed.
  public func map<Output>(_ transform: (Key) -> Output) -> UnorderedCollectionDiff<Output> {
    UnorderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform))
  }
}

extension UnorderedCollectionDiff: Equatable where Key: Equatable {}

extension UnorderedCollectionDiff where Key: Hashable {
  /// Creates the net change of `patch`; O(n) in the number of operations.
  public init<Element>(from patch: [UnorderedCollectionOperation<Element, Key>]) {
    self.init()
    /// Whether each key existed before the first operation, and after the last.
    var known: [Key: (was: Bool, isThere: Bool)] = [:]
    var order: [Key] = []
    for operation in patch {
      let (key, was, isThere) = operation.effect
      if known[key] == nil { order.append(key) }
      known[key] = (known[key]?.was ?? was, isThere)
    }
    for key in order {
      switch known[key] ?? (false, false) {
      case (false, true): inserts.append(key)
      case (true, false): deletes.append(key)
      case (true, true): updates.append(key)
      case (false, false): break
      }
    }
  }

  /// Returns operations that lead to `collection`: updates, deletes, inserts; O(n) in the size of
  /// the diff.
  public func generatePatch<Collection: KeyedCollection>(
    to collection: Collection
  ) -> [UnorderedCollectionOperation<Collection.Element, Key>] where Collection.ElementKey == Key {
    updates.compactMap { key in
      collection.element(at: key).map { .update(at: key, newElement: $0) }
    } + deletes.map { .delete(at: $0) }
      + inserts.compactMap { key in collection.element(at: key).map { .insert($0, at: key) } }
  }
}

extension UnorderedCollectionOperation {
  /// The key, with whether it exists before and after the operation.
  fileprivate var effect: (key: Key, was: Bool, isThere: Bool) {
    switch self {
    case .insert(_, let key): (key, false, true)
    case .delete(let key): (key, true, false)
    case .update(let key, _): (key, true, true)
    }
  }
}

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
