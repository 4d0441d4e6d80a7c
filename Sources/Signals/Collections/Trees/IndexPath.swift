/// Where a node is in a tree: the index among its siblings, level by level; the root's is empty.
package struct IndexPath: Hashable, Sendable {
  private var indexes: [Int]

  /// The path of the root.
  package init() {
    indexes = []
  }

  /// The path of a child of the root.
  package init(index: Int) {
    indexes = [index]
  }

  /// The path that takes these indexes, one a level.
  package init(indexes: some Sequence<Int>) {
    self.indexes = Array(indexes)
  }

  /// The path of an item of a section.
  package init(item: Int, section: Int) {
    indexes = [section, item]
  }

  /// The path of an item of a section.
  package init(row: Int, section: Int) {
    indexes = [section, row]
  }

  /// The first index.
  package var section: Int { self[0] }

  /// The second index.
  package var item: Int { self[1] }

  /// The second index.
  package var row: Int { self[1] }

  /// The path of a child.
  package func appending(_ index: Int) -> IndexPath {
    IndexPath(indexes: indexes + [index])
  }

  /// The path from the child at this one's first `count` indexes.
  package func dropFirst(_ count: Int = 1) -> IndexPath {
    IndexPath(indexes: indexes.dropFirst(count))
  }

  /// The path of the parent.
  package func dropLast(_ count: Int = 1) -> IndexPath {
    IndexPath(indexes: indexes.dropLast(count))
  }

  /// The path of the sibling that is `distance` further.
  package func advanced(by distance: Int) -> IndexPath {
    var path = self
    path[count - 1] += distance
    return path
  }

  /// Whether the node at the other path is in the subtree of the one here, and not the same.
  package func isAncestor(of other: IndexPath) -> Bool {
    count < other.count && other.starts(with: self)
  }
}

extension IndexPath: RandomAccessCollection, MutableCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { indexes.count }

  package subscript(position: Int) -> Int {
    get { indexes[position] }
    set { indexes[position] = newValue }
  }
}

extension IndexPath: Comparable {
  /// In the order of a depth-first walk.
  package static func < (a: IndexPath, b: IndexPath) -> Bool {
    a.lexicographicallyPrecedes(b)
  }
}

extension IndexPath: ExpressibleByArrayLiteral {
  package init(arrayLiteral indexes: Int...) {
    self.indexes = indexes
  }
}

extension IndexPath: CustomStringConvertible {
  package var description: String { indexes.description }
}
