extension MutableChangesetContainerProtocol where Changeset: UnorderedCollectionChangesetProtocol {
  /// Removes all elements.
  package func removeAll() {
    guard !collection.isEmpty else { return }
    change {
      let patch = $0.map { Operation.delete(at: Collection.key(of: $0)) }
      $0.takeAll()
      return (.patch(patch), ())
    }
  }

  /// Takes a step.
  package func apply(_ operation: Operation) {
    change {
      $0.apply(operation)
      return (.one(operation), ())
    }
  }
}

/// A set, for extensions of what holds one.
package protocol SetProtocol<Element>: KeyedCollection where ElementKey == Element {}

extension Set: SetProtocol {}

extension MutableChangesetContainerProtocol
where Changeset: UnorderedCollectionChangesetProtocol, Changeset.Collection: SetProtocol {
  /// Inserts a member; nobody is told if it is there already.
  package func insert(_ member: Collection.Element) {
    change {
      guard $0.element(at: member) == nil else { return (nil, ()) }
      $0.put(member)
      return (.one(.insert(member, at: member)), ())
    }
  }

  /// Removes and returns a member; nobody is told if it is not there.
  @discardableResult
  package func remove(_ member: Collection.Element) -> Collection.Element? {
    change {
      let removed = $0.take(member)
      return (removed.map { .one(.delete(at: $0)) }, removed)
    }
  }
}

/// A dictionary, for extensions of what holds one.
package protocol DictionaryProtocol<Key, Value>: KeyedCollection
where ElementKey == Key, Element == (key: Key, value: Value) {
  associatedtype Key
  associatedtype Value

  subscript(key: Key) -> Value? { get set }
}

extension Dictionary: DictionaryProtocol {}

extension ChangesetContainerProtocol where Changeset.Collection: DictionaryProtocol {
  /// The value of a key.
  package subscript(key: Collection.Key) -> Collection.Value? { collection[key] }
}

extension MutableChangesetContainerProtocol
where Changeset: UnorderedCollectionChangesetProtocol, Changeset.Collection: DictionaryProtocol {
  /// The value of a key; `nil` removes it, and nobody is told if it is not there.
  package subscript(key: Collection.Key) -> Collection.Value? {
    get { collection[key] }
    set {
      if let newValue {
        updateValue(newValue, forKey: key)
      } else {
        removeValue(forKey: key)
      }
    }
  }

  /// Sets the value of a key and returns the one it had.
  @discardableResult
  package func updateValue(
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

  /// Removes a key and returns the value it had; nobody is told if it is not there.
  @discardableResult
  package func removeValue(forKey key: Collection.Key) -> Collection.Value? {
    change {
      let old = $0.take(key)?.value
      return (old.map { _ in .one(.delete(at: key)) }, old)
    }
  }
}
