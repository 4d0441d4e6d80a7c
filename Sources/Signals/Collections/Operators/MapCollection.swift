extension SignalProtocol where Element: OrderedCollectionChangesetProtocol {
  /// Emits the collection of transformed elements.
  ///
  /// `transform` runs once for each new or updated element.
  ///
  /// A single operation costs as much as on an array, several at once O(n).
  public func mapCollection<Output>(
    _ transform: @escaping (Element.Collection.Element) -> Output
  ) -> Signal<OrderedCollectionChangeset<[Output]>, Error> {
    followed { MappedCollection<Element, Output>(transform: transform) }
  }

  /// Emits the collection of transformed elements.
  ///
  /// `transform` runs each time an element is read; O(1).
  public func lazyMapCollection<Output>(
    _ transform: @escaping (Element.Collection.Element) -> Output
  ) -> Signal<OrderedCollectionChangeset<LazyMapCollection<Element.Collection, Output>>, Error> {
    map { changeset in
      let changes: Changes<OrderedCollectionOperation<Output, Int>, OrderedCollectionDiff<Int>> =
        switch changeset.changes {
        case .whole: .whole
        case .one(let operation): .one(operation.mapElement(transform))
        case .several: .diff(changeset.diff)
        }
      return OrderedCollectionChangeset(
        collection: changeset.collection.lazy.map(transform), changes: changes)
    }
  }
}

private struct MappedCollection<Input: OrderedCollectionChangesetProtocol, Element>:
  CollectionFollower
{
  typealias Output = OrderedCollectionChangeset<[Element]>

  let transform: (Input.Collection.Element) -> Element
  private(set) var collection: [Element] = []

  init(transform: @escaping (Input.Collection.Element) -> Element) {
    self.transform = transform
  }

  mutating func reset(to source: Input.Collection) {
    precondition(source.startIndex == 0, "a collection is followed whose indices begin at 0")
    collection = source.map(transform)
  }

  mutating func take(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    if case .one(let operation) = changeset.changes {
      let mapped = operation.mapElement(transform)
      collection.apply(mapped)
      return .one(mapped)
    }
    let diff = changeset.diff
    guard !diff.isEmpty else { return nil }
    let updates = Set(diff.updates)
    let origins = diff.origins(of: collection.count, in: changeset.collection.count)
    collection = origins.enumerated().map { index, origin in
      if let origin, !updates.contains(origin) { return collection[origin] }
      return transform(changeset.collection[index])
    }
    return .diff(diff)
  }
}
