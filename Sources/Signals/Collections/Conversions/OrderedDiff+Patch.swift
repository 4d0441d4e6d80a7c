extension OrderedCollectionDiff where Index == Int {
  /// Creates the net change of `patch`; O(n log n) in the number of operations.
  public init<Element>(from patch: [OrderedCollectionOperation<Element, Int>]) {
    self.init(from: patch.lazy.map(\.asAnyOrderedCollectionOperation))
  }

  /// Creates the net change of `patch`; O(n log n) in the number of operations.
  public init(from patch: [AnyOrderedCollectionOperation<Int>]) {
    self.init(from: patch.lazy.map { $0 })
  }

  private init(from patch: some Sequence<AnyOrderedCollectionOperation<Int>>) {
    self.init()
    let list = TrackedNode(isRoot: true)
    defer { list.dismantle() }
    for operation in patch { list.take(operation) }
    var index = 0
    for piece in list.settle() {
      if let node = piece.node { add(node, at: index) }
      index += piece.count
    }
    addGone(list)
  }

  private mutating func add(_ node: TrackedNode, at index: Int) {
    node.finalPath = []
    guard let source = node.sourceIndex else { return inserts.append(index) }
    switch (node.isDetached, node.isUpdated) {
    case (true, true):
      deletes.append(source)
      inserts.append(index)
    case (true, false): moves.append((from: source, to: index))
    case (false, true): updates.append(source)
    case (false, false): break
    }
  }

  private mutating func addGone(_ list: TrackedNode) {
    deletes += list.touched.lazy.filter { $0.finalPath == nil }.compactMap(\.sourceIndex)
    deletes.sort()
    updates.sort()
  }
}

extension TrackedNode {
  /// Applies an operation.
  fileprivate func take(_ operation: AnyOrderedCollectionOperation<Int>) {
    switch operation {
    case .insert(let index): place(TrackedNode(), at: index)
    case .delete(let index): _ = remove(at: index)
    case .update(let index): child(at: index).update()
    case .move(let from, let to): place(remove(at: from), at: to)
    }
  }
}
