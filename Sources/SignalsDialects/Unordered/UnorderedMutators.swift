public import Signals

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
