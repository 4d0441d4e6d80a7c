/// The position of a node in a tree: its sibling index on each level; the root's path is empty.
package struct IndexPath: Hashable, Sendable {
  private var indexes: [Int]

  /// Creates the path of the root.
  package init() {
    indexes = []
  }

  /// Creates the path of a child of the root.
  package init(index: Int) {
    indexes = [index]
  }

  /// Creates a path from one index for each level.
  package init(indexes: some Sequence<Int>) {
    self.indexes = Array(indexes)
  }

  /// Creates the path of an item in a section.
  package init(item: Int, section: Int) {
    indexes = [section, item]
  }

  /// Creates the path of a row in a section.
  package init(row: Int, section: Int) {
    indexes = [section, row]
  }

  /// The first index.
  package var section: Int { self[0] }

  /// The second index.
  package var item: Int { self[1] }

  /// The second index.
  package var row: Int { self[1] }

  /// Returns the path of a child.
  package func appending(_ index: Int) -> IndexPath {
    IndexPath(indexes: indexes + [index])
  }

  /// Returns the path relative to the ancestor at the first `count` indexes.
  package func dropFirst(_ count: Int = 1) -> IndexPath {
    IndexPath(indexes: indexes.dropFirst(count))
  }

  /// Returns the path of the parent, or of the ancestor `count` levels up.
  package func dropLast(_ count: Int = 1) -> IndexPath {
    IndexPath(indexes: indexes.dropLast(count))
  }

  /// Returns the path of the sibling at a distance of `distance`.
  package func advanced(by distance: Int) -> IndexPath {
    var path = self
    path[count - 1] += distance
    return path
  }

  /// Whether the node at the other path is below this one.
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
  /// Compares two paths in depth-first order.
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
