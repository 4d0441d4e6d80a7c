/// A read-only observable list.
public typealias ObservableCollection<Collection: Swift.Collection> = ChangesetContainer<
  OrderedCollectionChangeset<Collection>
> where Collection.Index == Int

/// An observable list that can be changed.
public typealias MutableObservableCollection<Collection: Swift.Collection> =
  MutableChangesetContainer<OrderedCollectionChangeset<Collection>> where Collection.Index == Int

/// A read-only observable array.
public typealias ObservableArray<Element> = ChangesetContainer<
  OrderedCollectionChangeset<[Element]>
>

/// An observable array that can be changed.
public typealias MutableObservableArray<Element> = MutableChangesetContainer<
  OrderedCollectionChangeset<[Element]>
>

extension MutableChangesetContainerProtocol
where Changeset: OrderedCollectionChangesetProtocol, Changeset.Collection: MutableCollection {
  /// The element at an index.
  public subscript(index: Int) -> Collection.Element {
    get { collection[index] }
    set {
      change {
        $0[index] = newValue
        return (.one(.update(at: index, newElement: newValue)), ())
      }
    }
  }
}

extension MutableChangesetContainerProtocol
where
  Changeset: OrderedCollectionChangesetProtocol, Changeset.Collection: RangeReplaceableCollection
{
  /// Appends an element; amortized O(1).
  public func append(_ newElement: Collection.Element) {
    change {
      let index = $0.endIndex
      $0.append(newElement)
      return (.one(.insert(newElement, at: index)), ())
    }
  }

  /// Inserts an element at an index.
  public func insert(_ newElement: Collection.Element, at index: Int) {
    change {
      $0.insert(newElement, at: index)
      return (.one(.insert(newElement, at: index)), ())
    }
  }

  /// Inserts elements at an index.
  public func insert(contentsOf newElements: [Collection.Element], at index: Int) {
    guard !newElements.isEmpty else { return }
    change {
      $0.insert(contentsOf: newElements, at: index)
      return (.patch(zip(newElements, index...).map { .insert($0, at: $1) }), ())
    }
  }

  /// Removes the element at `fromIndex`, then inserts it at `toIndex` in the rest.
  public func move(from fromIndex: Int, to toIndex: Int) {
    guard fromIndex != toIndex else { return }
    change {
      $0.move(from: fromIndex, to: toIndex)
      return (.one(.move(from: fromIndex, to: toIndex)), ())
    }
  }

  /// Removes the elements at `fromIndices`, then inserts them at `toIndex` in the rest, in the
  /// order of `fromIndices`.
  public func move(from fromIndices: [Int], to toIndex: Int) {
    precondition(Set(fromIndices).count == fromIndices.count, "an element is moved twice")
    change {
      $0.move(from: fromIndices, to: toIndex)
      let moves = zip(fromIndices, toIndex...).map { (from: $0, to: $1) }
      let patch = OrderedCollectionDiff(moves: moves).generatePatch(to: $0)
      return (patch.isEmpty ? nil : .patch(patch), ())
    }
  }

  /// Removes and returns the element at an index.
  @discardableResult
  public func remove(at index: Int) -> Collection.Element {
    change { (.one(.delete(at: index)), $0.remove(at: index)) }
  }

  /// Removes and returns the last element.
  @discardableResult
  public func removeLast() -> Collection.Element {
    remove(at: collection.endIndex - 1)
  }

  /// Removes the elements in a range of indices.
  public func removeSubrange(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    change {
      $0.removeSubrange(range)
      return (.patch(range.reversed().map { .delete(at: $0) }), ())
    }
  }

  /// Removes all elements.
  public func removeAll() {
    removeSubrange(collection.startIndex..<collection.endIndex)
  }

  /// Applies an operation.
  public func apply(_ operation: Operation) {
    change {
      $0.apply(operation)
      return (.one(operation), ())
    }
  }
}

extension MutableChangesetContainerProtocol where Changeset: OrderedCollectionChangesetProtocol {
  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(
    with newCollection: Collection, performDiff: Bool,
    areEqual: (Collection.Element, Collection.Element) -> Bool
  ) {
    replace(
      with: newCollection, performDiff: performDiff,
      generateDiff: { $0.diff($1, areEqual: areEqual) })
  }
}

extension MutableChangesetContainerProtocol
where Changeset: OrderedCollectionChangesetProtocol, Changeset.Collection.Element: Equatable {
  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(with newCollection: Collection, performDiff: Bool) {
    replace(with: newCollection, performDiff: performDiff, generateDiff: { $0.diff($1) })
  }
}

extension MutableChangesetContainerProtocol
where Changeset: OrderedCollectionChangesetProtocol, Changeset.Collection.Element: Hashable {
  /// Replaces the collection.
  ///
  /// With `performDiff`, sends the differences, or nothing if there are none.
  public func replace(with newCollection: Collection, performDiff: Bool) {
    replace(with: newCollection, performDiff: performDiff, generateDiff: { $0.diff($1) })
  }
}
