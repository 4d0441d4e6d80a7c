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
