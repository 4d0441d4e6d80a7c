/// The nodes of a tree in traversal order, with their paths.
///
/// Nodes are visited on demand: a search that ends early does not read the rest.
public struct TreeView<Tree: TreeProtocol>: BidirectionalCollection {
  /// The type of the nodes.
  public typealias Element = Tree.Children.Element

  /// The position of a node in the order.
  public struct Index: Comparable {
    /// The number of nodes before it; `Int.max` for the end.
    fileprivate let position: Int
    /// The path of the node; the end index has the path behind the last child of the root.
    public let indexPath: IndexPath

    /// Returns whether both indices have the same position.
    public static func == (a: Index, b: Index) -> Bool { a.position == b.position }

    /// Returns whether the first index is before the second.
    public static func < (a: Index, b: Index) -> Bool { a.position < b.position }
  }

  /// An iterator over the nodes.
  public struct Iterator: IteratorProtocol {
    fileprivate var walk: TreeWalk<Element>

    /// Returns the next node in traversal order; `nil` at the end.
    public mutating func next() -> Element? { walk.next()?.node }
  }

  private let visited: VisitedNodes<Element>
  private let end: IndexPath

  fileprivate init(_ walk: TreeWalk<Element>, end: IndexPath) {
    visited = VisitedNodes(walk)
    self.end = end
  }

  /// Returns an iterator that starts at the first node.
  public func makeIterator() -> Iterator { Iterator(walk: visited.start) }

  /// The index of the first node; the end index if there are no nodes.
  public var startIndex: Index { index(0) }
  /// The index after the last node.
  public var endIndex: Index { Index(position: .max, indexPath: end) }
  /// Returns the index of the next node.
  public func index(after index: Index) -> Index { self.index(index.position + 1) }
  /// The node at an index.
  public subscript(index: Index) -> Element {
    guard let found = visited[index.position] else { preconditionFailure("no node is at the end") }
    return found.node
  }

  /// Returns the index of the previous node.
  public func index(before index: Index) -> Index {
    self.index(Swift.min(index.position, visited.count) - 1)
  }

  /// The paths of the nodes, in traversal order.
  public var indexPaths: [IndexPath] {
    var (walk, paths) = (visited.start, [IndexPath]())
    while let next = walk.next() { paths.append(next.path) }
    return paths
  }

  private func index(_ position: Int) -> Index {
    visited[position].map { Index(position: position, indexPath: $0.path) } ?? endIndex
  }
}

extension TreeProtocol {
  /// All nodes except the root, each before its children.
  public var depthFirst: TreeView<Self> {
    TreeView(TreeWalk(below: IndexPath(), children, isDeep: true), end: [children.count])
  }

  /// All nodes except the root, level by level.
  public var breadthFirst: TreeView<Self> {
    TreeView(TreeWalk(below: IndexPath(), children, isDeep: false), end: [children.count])
  }
}

extension TreeProtocol where Children.Element == Self {
  /// All nodes, each before its children; the root has the empty path.
  public var depthFirst: TreeView<Self> {
    TreeView(TreeWalk(from: self, isDeep: true), end: [children.count])
  }

  /// All nodes, level by level; the root has the empty path.
  public var breadthFirst: TreeView<Self> {
    TreeView(TreeWalk(from: self, isDeep: false), end: [children.count])
  }
}

/// A traversal in progress.
///
/// It stores only the siblings that are still to be visited.
private struct TreeWalk<Node: TreeProtocol> where Node.Children.Element == Node {
  /// Siblings, some of which are visited already.
  private struct Row {
    let parent: IndexPath
    let siblings: Node.Children
    var at: Node.Children.Index
    var next = 0
  }

  /// Whether the children of a node come before its siblings.
  private let isDeep: Bool
  private var root: Node?

  /// The siblings to continue with: depth-first the last row, else the row at `first`.
  private var rows: [Row] = []
  private var first = 0

  init(from root: Node, isDeep: Bool) {
    self.root = root
    self.isDeep = isDeep
  }

  init(below path: IndexPath, _ children: Node.Children, isDeep: Bool) {
    self.isDeep = isDeep
    add(children, below: path)
  }

  private mutating func add(_ children: Node.Children, below path: IndexPath) {
    if !children.isEmpty {
      rows.append(Row(parent: path, siblings: children, at: children.startIndex))
    }
  }

  mutating func next() -> (path: IndexPath, node: Node)? {
    if let root {
      self.root = nil
      add(root.children, below: IndexPath())
      return (IndexPath(), root)
    }
    while first < rows.count {
      let current = isDeep ? rows.count - 1 : first
      let (siblings, at) = (rows[current].siblings, rows[current].at)
      guard at < siblings.endIndex else {
        leave(current)
        continue
      }
      let node = siblings[at]
      rows[current].at = siblings.index(after: at)
      let path = rows[current].parent.appending(rows[current].next)
      rows[current].next += 1
      add(node.children, below: path)
      return (path, node)
    }
    return nil
  }

  /// Releases siblings that are all visited.
  private mutating func leave(_ row: Int) {
    guard !isDeep else {
      rows.removeLast()
      return
    }
    first += 1
    if first > 64, first > rows.count / 2 {
      rows.removeFirst(first)
      first = 0
    }
  }
}

/// The visited nodes by position.
///
/// Access to a later position continues the traversal.
private final class VisitedNodes<Node: TreeProtocol> where Node.Children.Element == Node {
  /// The traversal at its start.
  let start: TreeWalk<Node>
  private var walk: TreeWalk<Node>
  private var nodes: [(path: IndexPath, node: Node)] = []

  init(_ walk: TreeWalk<Node>) {
    start = walk
    self.walk = walk
  }

  /// The node at a position; `nil` behind the last.
  subscript(position: Int) -> (path: IndexPath, node: Node)? {
    while nodes.count <= position, let next = walk.next() { nodes.append(next) }
    return position < nodes.count ? nodes[position] : nil
  }

  /// The number of nodes; visits all of them.
  var count: Int {
    while let next = walk.next() { nodes.append(next) }
    return nodes.count
  }
}
