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

extension OrderedCollectionDiff where Index == IndexPath {
  /// Creates the net change of `patch`; O(n log n) in the number of indices in its paths.
  public init<Element>(from patch: [OrderedCollectionOperation<Element, IndexPath>]) {
    self.init(from: patch.lazy.map(\.asAnyOrderedCollectionOperation))
  }

  /// Creates the net change of `patch`; O(n log n) in the number of indices in its paths.
  public init(from patch: [AnyOrderedCollectionOperation<IndexPath>]) {
    self.init(from: patch.lazy.map { $0 })
  }

  private init(from patch: some Sequence<AnyOrderedCollectionOperation<IndexPath>>) {
    self.init()
    let root = TrackedNode(isRoot: true)
    defer { root.dismantle() }
    for operation in patch { root.apply(operation) }
    root.findKept(at: []) { _ in }
    root.findLost(isLost: false)
    root.forgetPaths()
    root.findKept(at: []) { inserts.append($0) }
    addGone(from: root, at: [], isGone: false)
  }

  /// Adds the moves, deletes and updates of nodes from the source.
  ///
  /// - Parameter isGone: Whether a deleted or replaced ancestor removes the nodes.
  private mutating func addGone(from parent: TrackedNode, at path: IndexPath, isGone: Bool) {
    for node in parent.touched.sorted(by: { $0.sourceIndex ?? 0 < $1.sourceIndex ?? 0 }) {
      let path = path.appending(node.sourceIndex ?? 0)
      if node.isDetached, !node.isNew, let final = node.finalPath {
        moves.append((from: path, to: IndexPath(indexes: final)))
        addGone(from: node, at: path, isGone: false)
      } else if isGone || node.isDetached {
        if !isGone { deletes.append(path) }
        addGone(from: node, at: path, isGone: true)
      } else {
        if node.isUpdated { updates.append(path) }
        addGone(from: node, at: path, isGone: node.isUpdated)
      }
    }
  }
}

extension TrackedNode {
  /// Whether its subtree is new in the final tree; a diff names no node inside such a subtree.
  fileprivate var isNew: Bool { isInserted || isLost || isUpdated }

  /// Applies an operation.
  fileprivate func apply(_ operation: AnyOrderedCollectionOperation<IndexPath>) {
    switch operation {
    case .insert(let path): parent(at: path).place(TrackedNode(), at: path.lastIndex)
    case .delete(let path): _ = parent(at: path).remove(at: path.lastIndex)
    case .update(let path): parent(at: path).child(at: path.lastIndex).update()
    case .move(let from, let to):
      let node = parent(at: from).remove(at: from.lastIndex)
      parent(at: to).place(node, at: to.lastIndex)
    }
  }

  private func parent(at path: IndexPath) -> TrackedNode {
    path.dropLast().reduce(self) { $0.child(at: $1) }
  }

  /// Records the final paths of nodes from the source.
  ///
  /// Calls `onNew` with each path to insert.
  fileprivate func findKept(at path: IndexPath, onNew: (IndexPath) -> Void) {
    var index = 0
    for piece in finishMoves() {
      if let node = piece.node {
        let path = path.appending(index)
        node.finalPath = Array(path)
        if !node.isNew {
          node.findKept(at: path, onNew: onNew)
        } else if node.isDetached || node.isInserted || node.isLost {
          onNew(path)
        }
      }
      index += piece.count
    }
  }

  /// Marks nodes that moved out of an updated subtree.
  ///
  /// A diff applies updates first, so these nodes no longer exist when moves are applied.
  fileprivate func findLost(isLost: Bool) {
    for node in touched {
      if isLost, node.isDetached { node.isLost = true }
      let isReplaced = node.isUpdated && !node.isDetached && node.finalPath != nil
      node.findLost(isLost: isLost || isReplaced)
    }
  }

  fileprivate func forgetPaths() {
    for node in touched {
      node.finalPath = nil
      node.forgetPaths()
    }
  }
}

extension IndexPath {
  /// The index among the siblings.
  fileprivate var lastIndex: Int { self[count - 1] }
}

/// A node that a diff names, or an ancestor of one, with its source, current and final positions.
///
/// The current position changes while the moves and deletes are applied in order.
final class TreePlan {
  private unowned let sourceParent: TreePlan?
  private let sourceIndex: Int
  private unowned var finalParent: TreePlan?
  private var finalIndex = 0
  /// Whether it is at its final position.
  private var hasArrived = false
  /// Named children from the source, by source index.
  private var known: [Int: TreePlan] = [:]
  private var leaving: [Int] = []
  private var arriving: [Int: TreePlan] = [:]
  private var inserted: [Int] = []
  /// Created when all leaving and arriving nodes are known.
  private lazy var plan = SiblingPlan(
    leaving: leaving, arriving: Array(arriving.keys), inserted: inserted)

  /// Creates the root.
  init() {
    sourceParent = nil
    sourceIndex = 0
  }

  private init(sourceParent: TreePlan, sourceIndex: Int) {
    self.sourceParent = sourceParent
    self.sourceIndex = sourceIndex
  }

  /// Returns the node at a source path.
  ///
  /// Call this and the next two methods on the root.
  func source(_ path: IndexPath) -> TreePlan {
    path.reduce(self) { $0.source($1) }
  }

  /// Registers that the node at a source path leaves its position, and returns the node.
  func willLeave(_ path: IndexPath) -> TreePlan {
    let node = source(path)
    node.sourceParent?.leaving.append(node.sourceIndex)
    return node
  }

  /// Registers the node at a final path: a moved node, or `nil` for an inserted one.
  ///
  /// Call it after all calls of `willLeave`, shorter paths first.
  func willArrive(_ node: TreePlan?, at path: IndexPath) {
    let parent = path.dropLast().reduce(self) { $0.final($1) }
    let index = path[path.count - 1]
    if let node {
      parent.arriving[index] = node
      node.finalParent = parent
      node.finalIndex = index
    } else {
      parent.inserted.append(index)
    }
  }

  /// The final path.
  var finalPath: IndexPath {
    if let finalParent { return finalParent.finalPath.appending(finalIndex) }
    guard let sourceParent else { return [] }
    return sourceParent.finalPath.appending(sourceParent.plan.finalIndex(ofSource: sourceIndex))
  }

  /// The current path.
  var path: IndexPath {
    if hasArrived, let finalParent {
      return finalParent.path.appending(finalParent.plan.position(ofArriving: finalIndex))
    }
    guard let sourceParent else { return [] }
    return sourceParent.path.appending(sourceParent.plan.position(ofSource: sourceIndex))
  }

  /// Removes the node from its source position.
  func leave() {
    sourceParent?.plan.leave(sourceIndex)
  }

  /// Moves the node to its final position.
  func arrive() {
    finalParent?.plan.arrive(finalIndex)
    hasArrived = true
  }

  /// Releases all nodes.
  ///
  /// Two nodes can retain each other: when a node moves below its former child.
  func dismantle() {
    var rest = [self]
    while let node = rest.popLast() {
      rest += node.known.values
      rest += node.arriving.values
      node.known = [:]
      node.arriving = [:]
    }
  }

  private func source(_ index: Int) -> TreePlan {
    if let node = known[index] { return node }
    let node = TreePlan(sourceParent: self, sourceIndex: index)
    known[index] = node
    return node
  }

  private func final(_ index: Int) -> TreePlan {
    arriving[index] ?? source(plan.sourceIndex(ofFinal: index))
  }
}
