/// An element that a patch touches, or an ancestor of one, with its source and current positions.
///
/// A list is a root node whose children are the elements.
package final class TrackedNode {
  /// The parent in the source; `nil` for the root and for elements that are not from the source.
  private unowned let sourceParent: TrackedNode?
  /// The index in the source; `nil` for the root and for elements that are not from the source.
  package let sourceIndex: Int?
  private let isRoot: Bool
  /// Whether it was replaced, together with its subtree.
  package private(set) var isUpdated = false
  /// Whether it was removed from its source position.
  package fileprivate(set) var isDetached = false
  /// The path in the final tree; `nil` if the node is not reachable through nodes of the source.
  ///
  /// In a list, `[]` for every element that remains.
  package var finalPath: [Int]?
  /// Whether the diff must insert it, because it moved out of a subtree that an update replaces.
  package var isLost = false
  /// Touched children from the source.
  package private(set) var touched: [TrackedNode] = []
  private var children: Rope<TrackedNode>?

  /// Creates a root or an inserted element.
  package init(isRoot: Bool = false) {
    self.isRoot = isRoot
    sourceParent = nil
    sourceIndex = nil
  }

  /// Creates an element of the source.
  private init(sourceParent: TrackedNode, sourceIndex: Int) {
    isRoot = false
    self.sourceParent = sourceParent
    self.sourceIndex = sourceIndex
  }

  /// Whether it was inserted.
  package var isInserted: Bool { sourceIndex == nil }

  /// Returns the node of the child that is now at an index.
  package func child(at index: Int) -> TrackedNode {
    if let known = known(at: index) { return known }
    let node = remove(at: index)
    place(node, at: index)
    node.isDetached = false
    return node
  }

  /// Removes the child at an index.
  package func remove(at index: Int) -> TrackedNode {
    let node = known(at: index) ?? touch(at: index)
    node.isDetached = true
    children?.remove(at: index)
    return node
  }

  /// Inserts a child.
  package func place(_ node: TrackedNode, at index: Int) {
    open()
    children?.insert(node, at: index)
  }

  /// Marks the node as replaced; its children are unknown from then on.
  package func update() {
    isUpdated = true
    children = Rope(ofSource: false)
  }

  /// Returns the current children as runs.
  ///
  /// Children that moved back to their source position no longer count as moved.
  package func settle() -> [Rope<TrackedNode>.Piece] {
    guard let pieces = children?.pieces else { return [] }
    let nextStaying = starts(of: pieces)
    var last = -1
    for (piece, next) in zip(pieces, nextStaying) {
      if let start = start(of: piece) {
        last = start + piece.count - 1
      } else if let node = piece.node, node.isDetached, let index = node.sourceIndex,
        node.sourceParent === self, last < index, index < next
      {
        node.isDetached = false
        last = index
      }
    }
    return pieces
  }

  /// Releases all nodes.
  ///
  /// Two nodes can retain each other: when a node moves below its former child.
  package func dismantle() {
    var rest = [self]
    while let node = rest.popLast() {
      rest += node.touched
      rest += node.children?.pieces.compactMap(\.node) ?? []
      node.touched = []
      node.children = nil
    }
  }

  /// Returns, for each piece, the source index of the next piece that stayed; `Int.max` if there is
  /// none.
  private func starts(of pieces: [Rope<TrackedNode>.Piece]) -> [Int] {
    var starts = Array(repeating: Int.max, count: pieces.count)
    var next = Int.max
    for i in pieces.indices.reversed() {
      starts[i] = next
      next = start(of: pieces[i]) ?? next
    }
    return starts
  }

  /// Returns the source index of a piece; `nil` if it did not stay.
  private func start(of piece: Rope<TrackedNode>.Piece) -> Int? {
    guard let node = piece.node else { return piece.source }
    return node.isDetached ? nil : node.sourceIndex
  }

  /// Creates the list of children when the first child is touched.
  private func open() {
    if children == nil { children = Rope(ofSource: isRoot || !isInserted) }
  }

  private func known(at index: Int) -> TrackedNode? {
    children?.piece(at: index).piece.node
  }

  /// Creates the node of an untouched element.
  private func touch(at index: Int) -> TrackedNode {
    open()
    guard let (piece, start) = children?.piece(at: index), let source = piece.source else {
      return TrackedNode()
    }
    let node = TrackedNode(sourceParent: self, sourceIndex: source + index - start)
    touched.append(node)
    return node
  }
}
