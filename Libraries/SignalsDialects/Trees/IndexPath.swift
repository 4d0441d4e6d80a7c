/// The position of a node in a tree: its sibling index on each level; the root's path is empty.
public struct IndexPath: Hashable, Sendable {
  private var indexes: [Int]

  /// Creates the path of the root.
  public init() {
    indexes = []
  }

  /// Creates the path of a child of the root.
  public init(index: Int) {
    indexes = [index]
  }

  /// Creates a path from one index for each level.
  public init(indexes: some Sequence<Int>) {
    self.indexes = Array(indexes)
  }

  /// Creates the path of an item in a section.
  public init(item: Int, section: Int) {
    indexes = [section, item]
  }

  /// Creates the path of a row in a section.
  public init(row: Int, section: Int) {
    indexes = [section, row]
  }

  /// The first index.
  public var section: Int { self[0] }

  /// The second index.
  public var item: Int { self[1] }

  /// The second index.
  public var row: Int { self[1] }

  /// Returns the path of a child.
  public func appending(_ index: Int) -> IndexPath {
    IndexPath(indexes: indexes + [index])
  }

  /// Returns the path relative to the ancestor at the first `count` indexes.
  public func dropFirst(_ count: Int = 1) -> IndexPath {
    IndexPath(indexes: indexes.dropFirst(count))
  }

  /// Returns the path of the parent, or of the ancestor `count` levels up.
  public func dropLast(_ count: Int = 1) -> IndexPath {
    IndexPath(indexes: indexes.dropLast(count))
  }

  /// Returns the path of the sibling at a distance of `distance`.
  public func advanced(by distance: Int) -> IndexPath {
    var path = self
    path[count - 1] += distance
    return path
  }

  /// Whether the node at the other path is below this one.
  public func isAncestor(of other: IndexPath) -> Bool {
    count < other.count && other.starts(with: self)
  }
}

extension IndexPath: RandomAccessCollection, MutableCollection {
  /// The position of the first index: 0.
  public var startIndex: Int { 0 }
  /// The position after the last index.
  public var endIndex: Int { indexes.count }

  /// The index at a position.
  public subscript(position: Int) -> Int {
    get { indexes[position] }
    set { indexes[position] = newValue }
  }
}

extension IndexPath: Comparable {
  /// Compares two paths in depth-first order.
  public static func < (a: IndexPath, b: IndexPath) -> Bool {
    a.lexicographicallyPrecedes(b)
  }
}

extension IndexPath: ExpressibleByArrayLiteral {
  /// Creates a path from one index for each level.
  public init(arrayLiteral indexes: Int...) {
    self.indexes = indexes
  }
}

extension IndexPath: CustomStringConvertible {
  /// The indexes as text: `[0, 2]`.
  public var description: String { indexes.description }
}
