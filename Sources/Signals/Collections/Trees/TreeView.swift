/// The nodes of a tree in an order, each at its path.
package struct TreeView<Tree: TreeProtocol>: BidirectionalCollection {
  /// Where a node is, among those in the order.
  package struct Index: Comparable {
    fileprivate let position: Int
    /// The path of the node; of the end, the one after the last child of the root.
    package let indexPath: IndexPath

    package static func == (a: Index, b: Index) -> Bool { a.position == b.position }

    package static func < (a: Index, b: Index) -> Bool { a.position < b.position }
  }

  private let nodes: [(path: IndexPath, node: Tree.Children.Element)]
  private let end: IndexPath

  fileprivate init(_ nodes: [(path: IndexPath, node: Tree.Children.Element)], end: IndexPath) {
    self.nodes = nodes
    self.end = end
  }

  package var startIndex: Index { index(0) }
  package var endIndex: Index { index(nodes.count) }
  package func index(after index: Index) -> Index { self.index(index.position + 1) }
  package func index(before index: Index) -> Index { self.index(index.position - 1) }
  package subscript(index: Index) -> Tree.Children.Element { nodes[index.position].node }

  /// The paths of the nodes, in the order.
  package var indexPaths: [IndexPath] { nodes.map(\.path) }

  private func index(_ position: Int) -> Index {
    Index(position: position, indexPath: position < nodes.count ? nodes[position].path : end)
  }
}

extension TreeProtocol {
  /// All nodes but the root, each before what is below it; O(n).
  package var depthFirst: TreeView<Self> {
    TreeView(walk(children.enumerated().map { (IndexPath(index: $0), $1) }), end: [children.count])
  }

  /// All nodes but the root, level by level; O(n).
  package var breadthFirst: TreeView<Self> {
    TreeView(
      levels(children.enumerated().map { (IndexPath(index: $0), $1) }), end: [children.count])
  }
}

extension TreeProtocol where Children.Element == Self {
  /// All nodes, each before what is below it, the root at the empty path; O(n).
  package var depthFirst: TreeView<Self> {
    TreeView(walk([(IndexPath(), self)]), end: [children.count])
  }

  /// All nodes, level by level, the root at the empty path; O(n).
  package var breadthFirst: TreeView<Self> {
    TreeView(levels([(IndexPath(), self)]), end: [children.count])
  }
}

/// Nodes with all that is below them, each before what is below it.
private func walk<Node: TreeProtocol>(
  _ roots: [(path: IndexPath, node: Node)]
) -> [(path: IndexPath, node: Node)] where Node.Children.Element == Node {
  var (nodes, waiting) = ([(path: IndexPath, node: Node)](), Array(roots.reversed()))
  while let next = waiting.popLast() {
    nodes.append(next)
    for (i, child) in next.node.children.enumerated().reversed() {
      waiting.append((next.path.appending(i), child))
    }
  }
  return nodes
}

/// Nodes with all that is below them, level by level.
private func levels<Node: TreeProtocol>(
  _ roots: [(path: IndexPath, node: Node)]
) -> [(path: IndexPath, node: Node)] where Node.Children.Element == Node {
  var (nodes, next) = (roots, 0)
  while next < nodes.count {
    let (path, node) = nodes[next]
    next += 1
    for (i, child) in node.children.enumerated() { nodes.append((path.appending(i), child)) }
  }
  return nodes
}
