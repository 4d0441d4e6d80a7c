public import Signals

/// A read-only observable set or dictionary.
public typealias ObservableUnorderedCollection<Collection: KeyedCollection> = ChangesetContainer<
  UnorderedCollectionChangeset<Collection>
>

/// An observable set or dictionary that can be changed.
public typealias MutableObservableUnorderedCollection<Collection: KeyedCollection> =
  MutableChangesetContainer<UnorderedCollectionChangeset<Collection>>

/// A read-only observable set.
public typealias ObservableSet<Element: Hashable> = ChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// An observable set that can be changed.
public typealias MutableObservableSet<Element: Hashable> = MutableChangesetContainer<
  UnorderedCollectionChangeset<Set<Element>>
>

/// A read-only observable dictionary.
public typealias ObservableDictionary<Key: Hashable, Value> = ChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

/// An observable dictionary that can be changed.
public typealias MutableObservableDictionary<Key: Hashable, Value> = MutableChangesetContainer<
  UnorderedCollectionChangeset<[Key: Value]>
>

extension MutableChangesetContainerProtocol where Changeset: UnorderedCollectionChangesetProtocol {
  /// Removes all elements.
  public func removeAll() {
    guard !collection.isEmpty else { return }
    change {
      let patch = $0.map { Operation.delete(at: Collection.key(of: $0)) }
      $0.takeAll()
      return (.patch(patch), ())
    }
  }

  /// Applies an operation.
  public func apply(_ operation: Operation) {
    change {
      $0.apply(operation)
      return (.one(operation), ())
    }
  }
}

/// A set, as a constraint for extensions of its containers.
public protocol SetProtocol<Element>: KeyedCollection where ElementKey == Element {}

extension Set: SetProtocol {}

extension MutableChangesetContainerProtocol
where Changeset: UnorderedCollectionChangesetProtocol, Changeset.Collection: SetProtocol {
  /// Inserts a member.
  ///
  /// Sends nothing if it is already in the set.
  public func insert(_ member: Collection.Element) {
    change {
      guard $0.element(at: member) == nil else { return (nil, ()) }
      $0.put(member)
      return (.one(.insert(member, at: member)), ())
    }
  }

  /// Removes and returns a member.
  ///
  /// Returns `nil` and sends nothing if it is not in the set.
  @discardableResult
  public func remove(_ member: Collection.Element) -> Collection.Element? {
    change {
      let removed = $0.take(member)
      return (removed.map { .one(.delete(at: $0)) }, removed)
    }
  }
}

/// A dictionary, as a constraint for extensions of its containers.
public protocol DictionaryProtocol<Key, Value>: KeyedCollection
where ElementKey == Key, Element == (key: Key, value: Value) {
  associatedtype Key
  associatedtype Value

  subscript(key: Key) -> Value? { get set }
}

extension Dictionary: DictionaryProtocol {}

extension ChangesetContainerProtocol where Changeset.Collection: DictionaryProtocol {
  /// The value for a key; `nil` if there is none.
  public subscript(key: Collection.Key) -> Collection.Value? { collection[key] }
}

extension MutableChangesetContainerProtocol
where Changeset: UnorderedCollectionChangesetProtocol, Changeset.Collection: DictionaryProtocol {
  /// The value for a key.
  ///
  /// Setting `nil` removes the key, and sends nothing if the key does not exist.
  public subscript(key: Collection.Key) -> Collection.Value? {
    get { collection[key] }
    set {
      if let newValue {
        updateValue(newValue, forKey: key)
      } else {
        removeValue(forKey: key)
      }
    }
  }

  /// Sets the value for a key and returns the previous one; `nil` if there was none.
  @discardableResult
  public func updateValue(
    _ value: Collection.Value, forKey key: Collection.Key
  ) -> Collection.Value? {
    change {
      let old = $0[key]
      $0[key] = value
      let element = (key: key, value: value)
      let operation: Operation =
        old == nil ? .insert(element, at: key) : .update(at: key, newElement: element)
      return (.one(operation), old)
    }
  }

  /// Removes a key and returns its value.
  ///
  /// Returns `nil` and sends nothing if the key does not exist.
  @discardableResult
  public func removeValue(forKey key: Collection.Key) -> Collection.Value? {
    change {
      let old = $0.take(key)?.value
      return (old.map { _ in .one(.delete(at: key)) }, old)
    }
  }
}

extension SignalProtocol where Element: UnorderedCollectionChangesetProtocol {
  /// Emits the elements in ascending order.
  ///
  /// Equal elements keep their order of arrival.
  ///
  /// A single operation costs as much as on an array, several at once O(n).
  public func sortedCollection(
    by areInIncreasingOrder:
      @escaping (Element.Collection.Element, Element.Collection.Element) ->
      Bool
  ) -> Signal<OrderedCollectionChangeset<[Element.Collection.Element]>, Error> {
    followed { SortedUnorderedCollection<Element>(by: areInIncreasingOrder) }
  }
}

extension SignalProtocol
where
  Element: UnorderedCollectionChangesetProtocol, Element.Collection.Element: Comparable
{
  /// Emits the elements in ascending order.
  public func sortedCollection()
    -> Signal<OrderedCollectionChangeset<[Element.Collection.Element]>, Error>
  {
    sortedCollection(by: <)
  }
}

private struct SortedUnorderedCollection<Input: UnorderedCollectionChangesetProtocol>:
  CollectionFollower
{
  typealias Element = Input.Collection.Element
  typealias Output = OrderedCollectionChangeset<[Element]>

  private var sorted: SortedItems<Element>
  private var source: [Input.Collection.ElementKey: SortedItems<Element>.Item] = [:]

  init(by areInIncreasingOrder: @escaping (Element, Element) -> Bool) {
    sorted = SortedItems(by: areInIncreasingOrder)
  }

  var collection: [Element] { sorted.elements }

  mutating func reset(to collection: Input.Collection) {
    source = [:]
    for element in collection { source[Input.Collection.key(of: element)] = sorted.item(element) }
    sorted.reset(to: Array(source.values))
  }

  mutating func apply(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    guard case .one(let operation) = changeset.changes else { return applyDiff(changeset) }
    switch operation {
    case .insert(let element, let key), .update(let key, let element):
      guard let old = source[key] else {
        let item = sorted.item(element)
        source[key] = item
        return .one(.insert(element, at: sorted.insert(item)))
      }
      let new = (element: element, id: old.id)
      source[key] = new
      return sorted.update(old, to: new)
    case .delete(let key):
      return source.removeValue(forKey: key).map { .one(.delete(at: sorted.remove($0))) }
    }
  }

  private mutating func applyDiff(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    let diff = changeset.diff
    // As for a single operation, an insert may replace an element.
    let gone = Set((diff.deletes + diff.updates + diff.inserts).compactMap { source[$0]?.id })
    for key in diff.deletes { source[key] = nil }
    var new: [SortedItems<Element>.Item] = []
    for key in diff.updates + diff.inserts {
      guard let element = changeset.collection.element(at: key) else { continue }
      let item = source[key].map { (element: element, id: $0.id) } ?? sorted.item(element)
      source[key] = item
      new.append(item)
    }
    let made = sorted.replace(gone, with: new)
    return made.isEmpty ? nil : .diff(made)
  }
}
