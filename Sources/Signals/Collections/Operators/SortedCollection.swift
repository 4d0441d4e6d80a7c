extension SignalProtocol where Element: OrderedCollectionChangesetProtocol {
  /// Emits the elements in ascending order.
  ///
  /// Equal elements keep their order of arrival. Moves in the source are not emitted.
  ///
  /// A single operation costs as much as on an array, several at once O(n).
  public func sortedCollection(
    by areInIncreasingOrder:
      @escaping (Element.Collection.Element, Element.Collection.Element) ->
      Bool
  ) -> Signal<OrderedCollectionChangeset<[Element.Collection.Element]>, Error> {
    followed { SortedCollection<Element>(by: areInIncreasingOrder) }
  }
}

extension SignalProtocol
where
  Element: OrderedCollectionChangesetProtocol, Element.Collection.Element: Comparable
{
  /// Emits the elements in ascending order.
  ///
  /// Equal elements keep their order of arrival.
  public func sortedCollection()
    -> Signal<OrderedCollectionChangeset<[Element.Collection.Element]>, Error>
  {
    sortedCollection(by: <)
  }
}

private struct SortedCollection<Input: OrderedCollectionChangesetProtocol>: CollectionFollower {
  typealias Element = Input.Collection.Element
  typealias Output = OrderedCollectionChangeset<[Element]>

  private var sorted: SortedItems<Element>
  /// The elements in source order.
  private var source: [SortedItems<Element>.Item] = []

  init(by areInIncreasingOrder: @escaping (Element, Element) -> Bool) {
    sorted = SortedItems(by: areInIncreasingOrder)
  }

  var collection: [Element] { sorted.elements }

  mutating func reset(to collection: Input.Collection) {
    precondition(collection.startIndex == 0, "a collection is followed whose indices begin at 0")
    source = []
    for element in collection { source.append(sorted.item(element)) }
    sorted.reset(to: source)
  }

  mutating func take(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    guard case .one(let operation) = changeset.changes else { return takeAtOnce(changeset) }
    switch operation {
    case .insert(let element, let index):
      let item = sorted.item(element)
      source.insert(item, at: index)
      return .one(.insert(element, at: sorted.insert(item)))
    case .delete(let index):
      return .one(.delete(at: sorted.remove(source.remove(at: index))))
    case .update(let index, let element):
      let (old, new) = (source[index], (element: element, id: source[index].id))
      source[index] = new
      return sorted.update(old, to: new)
    case .move(let from, let to):
      source.move(from: from, to: to)
      return nil
    }
  }

  private mutating func takeAtOnce(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    let (diff, updates) = (changeset.diff, Set(changeset.diff.updates))
    let old = source
    let gone = Set((diff.deletes + diff.updates).map { old[$0].id })
    var new: [SortedItems<Element>.Item] = []
    source = []
    for (index, origin) in diff.origins(of: old.count, in: changeset.collection.count).enumerated()
    {
      if let origin, !updates.contains(origin) {
        source.append(old[origin])
      } else {
        let element = changeset.collection[index]
        let item = origin.map { (element: element, id: old[$0].id) } ?? sorted.item(element)
        source.append(item)
        new.append(item)
      }
    }
    let made = sorted.replace(gone, with: new)
    return made.isEmpty ? nil : .diff(made)
  }
}
