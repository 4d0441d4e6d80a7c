public import Signals

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
    for operation in patch { root.take(operation) }
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
  fileprivate func take(_ operation: AnyOrderedCollectionOperation<IndexPath>) {
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
    for piece in settle() {
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
