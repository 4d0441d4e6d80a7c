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

  mutating func apply(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    guard case .one(let operation) = changeset.changes else { return applyDiff(changeset) }
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

  private mutating func applyDiff(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
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

/// Elements in ascending order; equal elements keep their order of arrival.
package struct SortedItems<Element> {
  /// An element with a unique number.
  package typealias Item = (element: Element, id: Int)

  private let areInIncreasingOrder: (Element, Element) -> Bool
  package private(set) var elements: [Element] = []
  private var ids: [Int] = []
  private var nextID = 0

  package init(by areInIncreasingOrder: @escaping (Element, Element) -> Bool) {
    self.areInIncreasingOrder = areInIncreasingOrder
  }

  /// Returns an element with the next number, as the latest arrival.
  package mutating func item(_ element: Element) -> Item {
    nextID += 1
    return (element, nextID)
  }

  /// Replaces all items; O(n log n).
  package mutating func reset(to items: [Item]) {
    let sorted = items.sorted(by: isBefore)
    elements = sorted.map(\.element)
    ids = sorted.map(\.id)
  }

  /// Inserts an item and returns its index.
  package mutating func insert(_ item: Item) -> Int {
    let index = index(of: item)
    elements.insert(item.element, at: index)
    ids.insert(item.id, at: index)
    return index
  }

  /// Removes an item and returns its former index.
  package mutating func remove(_ item: Item) -> Int {
    let index = index(of: item)
    precondition(ids[index] == item.id, "a sorted element has changed its order by itself")
    elements.remove(at: index)
    ids.remove(at: index)
    return index
  }

  /// Replaces one item and returns the resulting changes.
  package mutating func update(
    _ item: Item, to new: Item
  ) -> Changes<OrderedCollectionOperation<Element, Int>, OrderedCollectionDiff<Int>> {
    let from = remove(item)
    let to = insert(new)
    return from == to
      ? .one(.update(at: to, newElement: new.element))
      : .patch([.delete(at: from), .insert(new.element, at: to)])
  }

  /// Removes the items with the ids in `gone` and inserts `new`; O(n), plus O(k log k) in the
  /// number of new items.
  package mutating func replace(_ gone: Set<Int>, with new: [Item]) -> OrderedCollectionDiff<Int> {
    var diff = OrderedCollectionDiff<Int>()
    diff.deletes = ids.indices.filter { gone.contains(ids[$0]) }
    let kept = ids.indices.lazy.filter { [ids] in !gone.contains(ids[$0]) }
    var merged: [Item] = []
    var rest = new.sorted(by: isBefore)[...]
    for index in kept {
      let item = (elements[index], ids[index])
      while let first = rest.first, isBefore(first, item) {
        diff.inserts.append(merged.count)
        merged.append(first)
        rest.removeFirst()
      }
      merged.append(item)
    }
    diff.inserts += merged.count..<merged.count + rest.count
    merged += rest
    elements = merged.map(\.element)
    ids = merged.map(\.id)
    return diff
  }

  private func isBefore(_ a: Item, _ b: Item) -> Bool {
    if areInIncreasingOrder(a.element, b.element) { return true }
    return a.id < b.id && !areInIncreasingOrder(b.element, a.element)
  }

  private func index(of item: Item) -> Int {
    var (low, high) = (0, ids.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore((elements[middle], ids[middle]), item) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
