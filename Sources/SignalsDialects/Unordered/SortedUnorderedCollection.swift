public import Signals

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

  mutating func take(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    guard case .one(let operation) = changeset.changes else { return takeAtOnce(changeset) }
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

  private mutating func takeAtOnce(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
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
