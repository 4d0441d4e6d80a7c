public import Signals

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

  mutating func take(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
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
