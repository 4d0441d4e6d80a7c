public import Signals

extension MutableChangesetContainerProtocol
where Changeset: TreeChangesetProtocol, Changeset.Collection: Array2DProtocol {
  /// The type of the metadata of a section.
  public typealias SectionMetadata = Collection.SectionMetadata
  /// The type of the items.
  public typealias Item = Collection.Item
  /// The type of the sections.
  public typealias Section = Array2D<SectionMetadata, Item>.Section

  /// The item at a path of section and item.
  public subscript(itemAt indexPath: IndexPath) -> Item {
    get { collection.asArray2D[itemAt: indexPath] }
    set { apply(.update(at: indexPath, newElement: .item(newValue))) }
  }

  /// The section at an index.
  public subscript(sectionAt index: Int) -> Section {
    get { collection.asArray2D[sectionAt: index] }
    set { apply(.update(at: [index], newElement: .section(newValue))) }
  }

  /// Appends a section.
  public func appendSection(_ section: Section) {
    insert(section: section, at: collection.asArray2D.sections.count)
  }

  /// Appends a section without items.
  public func appendSection(_ metadata: SectionMetadata) {
    appendSection(Section(metadata: metadata, items: []))
  }

  /// Appends an item to a section.
  public func appendItem(_ item: Item, toSectionAt sectionIndex: Int) {
    insert(item: item, at: [sectionIndex, self[sectionAt: sectionIndex].items.count])
  }

  /// Inserts a section.
  public func insert(section: Section, at index: Int) {
    insert(.section(section), at: [index])
  }

  /// Inserts a section without items.
  public func insert(section metadata: SectionMetadata, at index: Int) {
    insert(section: Section(metadata: metadata, items: []), at: index)
  }

  /// Inserts an item.
  public func insert(item: Item, at indexPath: IndexPath) {
    insert(.item(item), at: indexPath)
  }

  /// Inserts items into one section.
  public func insert(contentsOf items: [Item], at indexPath: IndexPath) {
    insert(contentsOf: items.map { .item($0) }, at: indexPath)
  }

  /// Removes a section, then inserts it at `toIndex` in the rest.
  public func moveSection(from fromIndex: Int, to toIndex: Int) {
    move(from: [fromIndex], to: [toIndex])
  }

  /// Removes an item, then inserts it at `toIndexPath` in the rest.
  public func moveItem(from fromIndexPath: IndexPath, to toIndexPath: IndexPath) {
    move(from: fromIndexPath, to: toIndexPath)
  }

  /// Removes and returns a section.
  @discardableResult
  public func removeSection(at index: Int) -> Section {
    change { (.one(.delete(at: [index])), $0.asArray2D.removeSection(at: index)) }
  }

  /// Removes and returns an item.
  @discardableResult
  public func removeItem(at indexPath: IndexPath) -> Item {
    change { (.one(.delete(at: indexPath)), $0.asArray2D.removeItem(at: indexPath)) }
  }

  /// Removes all items and keeps the sections.
  public func removeAllItems() {
    change {
      let patch = $0.asArray2D.sections.enumerated().flatMap { i, section in
        section.items.indices.reversed().map { Operation.delete(at: [i, $0]) }
      }
      $0.asArray2D.removeAllItems()
      return (patch.isEmpty ? nil : .patch(patch), ())
    }
  }

  /// Removes all items and sections.
  public func removeAllItemsAndSections() {
    removeAll()
  }

  /// Replaces the items of a section without computing the differences.
  public func replaceItems(ofSectionAt sectionIndex: Int, with newItems: [Item]) {
    self[sectionAt: sectionIndex] = Section(
      metadata: self[sectionAt: sectionIndex].metadata, items: newItems)
  }

  /// Sorts the items of a section; equal items keep their order.
  public func sortItems(
    ofSectionAt sectionIndex: Int, by areInIncreasingOrder: (Item, Item) -> Bool
  ) {
    change {
      let items = $0.asArray2D.sections[sectionIndex].items
      let order = items.indices.sorted {
        areInIncreasingOrder(items[$0], items[$1])
          || (!areInIncreasingOrder(items[$1], items[$0]) && $0 < $1)
      }
      $0.asArray2D.sections[sectionIndex].items = order.map { items[$0] }
      let moves = order.enumerated().map { (from: $1, to: $0) }
      let patch = OrderedCollectionDiff(moves: moves).generatePatch(to: order)
      let steps = patch.map { step in
        step.mapElement { Collection.Children.Element.item(items[$0]) }
          .mapIndex { IndexPath(item: $0, section: sectionIndex) }
      }
      return (steps.isEmpty ? nil : .patch(steps), ())
    }
  }
}

extension MutableChangesetContainerProtocol
where
  Changeset: TreeChangesetProtocol, Changeset.Collection: Array2DProtocol,
  Changeset.Collection.Item: Comparable
{
  /// Sorts the items of a section; equal items keep their order.
  public func sortItems(ofSectionAt sectionIndex: Int) {
    sortItems(ofSectionAt: sectionIndex, by: <)
  }
}

extension SignalProtocol
where Element: TreeChangesetProtocol, Element.Collection: Array2DProtocol {
  /// Emits the items of all sections as one list.
  ///
  /// An operation on an item costs O(n), as on an array. An operation on a section becomes one
  /// operation for each of its items.
  public func flatten() -> Signal<OrderedCollectionChangeset<[Element.Collection.Item]>, Error> {
    followed { FlattenedSections<Element>() }
  }
}

private struct FlattenedSections<Input: TreeChangesetProtocol>: CollectionFollower
where Input.Collection: Array2DProtocol {
  typealias Item = Input.Collection.Item
  typealias Output = OrderedCollectionChangeset<[Item]>

  private(set) var collection: [Item] = []
  /// The number of items in each section.
  private var counts: [Int] = []

  mutating func reset(to source: Input.Collection) {
    let sections = source.asArray2D.sections
    counts = sections.map(\.items.count)
    collection = sections.flatMap(\.items)
  }

  mutating func apply(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    var patch: [Output.Operation] = []
    for operation in changeset.patch { patch += flatten(operation) }
    guard !patch.isEmpty else { return nil }
    if patch.count <= 8 {
      collection.apply(patch)
    } else {
      collection = changeset.collection.asArray2D.sections.flatMap(\.items)
    }
    return .patch(patch)
  }

  /// Returns the list index at which a section begins.
  private func start(_ section: Int) -> Int {
    counts[..<section].reduce(0, +)
  }

  private mutating func flatten(_ operation: Input.Operation) -> [Output.Operation] {
    switch operation {
    case .insert(.section(let section), let path): return insert(section.items, at: path[0])
    case .insert(.item(let item), let path):
      counts[path.section] += 1
      return [.insert(item, at: start(path.section) + path.item)]
    case .delete(let path):
      guard path.count > 1 else { return remove(path[0]) }
      counts[path.section] -= 1
      return [.delete(at: start(path.section) + path.item)]
    case .update(let path, .section(let section)):
      return remove(path[0]) + insert(section.items, at: path[0])
    case .update(let path, .item(let item)):
      return [.update(at: start(path.section) + path.item, newElement: item)]
    case .move(let from, let to):
      guard from.count > 1 else { return move(from[0], to[0]) }
      counts[from.section] -= 1
      let (source, target) = (start(from.section) + from.item, start(to.section) + to.item)
      counts[to.section] += 1
      return source == target ? [] : [.move(from: source, to: target)]
    }
  }

  private mutating func insert(_ items: [Item], at section: Int) -> [Output.Operation] {
    counts.insert(items.count, at: section)
    return zip(items, start(section)...).map { .insert($0, at: $1) }
  }

  private mutating func remove(_ section: Int) -> [Output.Operation] {
    let start = start(section)
    return (start..<start + counts.remove(at: section)).reversed().map { .delete(at: $0) }
  }

  private mutating func move(_ section: Int, _ target: Int) -> [Output.Operation] {
    let from = start(section)
    let count = counts.remove(at: section)
    let to = start(target)
    counts.insert(count, at: target)
    if from == to { return [] }
    // When moving forward, the first item moves behind the others, `count` times.
    return (0..<count).map {
      from < to ? .move(from: from, to: to + count - 1) : .move(from: from + $0, to: to + $0)
    }
  }
}
