public import Signals

extension OrderedCollectionDiff where Index == IndexPath {
  /// Returns operations that lead to `tree`: updates, moves, deletes, inserts; O(n log n) in the
  /// number of indices in the paths.
  ///
  /// Moves come before deletes, because a node can move out of a deleted one.
  public func generatePatch<Tree: TreeProtocol>(
    to tree: Tree
  ) -> [OrderedCollectionOperation<Tree.Children.Element, IndexPath>] {
    let root = TreePlan()
    defer { root.dismantle() }
    let leaving = deletes.sorted(by: >).map(root.willLeave)
    let moving = moves.map { (node: root.willLeave($0.from), to: $0.to) }
    let arriving =
      moving.map { (node: $0.node as TreePlan?, to: $0.to) }
      + inserts.map { (node: nil, to: $0) }
    for (node, path) in arriving.sorted(by: { $0.to.count < $1.to.count }) {
      root.willArrive(node, at: path)
    }

    var patch: [OrderedCollectionOperation<Tree.Children.Element, IndexPath>] = []
    for path in updates {
      patch.append(.update(at: path, newElement: tree[childAt: root.source(path).finalPath]))
    }
    for (node, _) in moving.sorted(by: { $0.to < $1.to }) {
      let from = node.path
      node.leave()
      node.arrive()
      let to = node.path
      if from != to { patch.append(.move(from: from, to: to)) }
    }
    for node in leaving {
      patch.append(.delete(at: node.path))
      node.leave()
    }
    for path in inserts.sorted() {
      patch.append(.insert(tree[childAt: path], at: path))
    }
    return patch
  }
}
