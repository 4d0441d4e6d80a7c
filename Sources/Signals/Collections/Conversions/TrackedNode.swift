/// An element that a patch touches, or the parent of one: where it was and where it is now.
///
/// A list is the node whose children the elements are.
final class TrackedNode {
  /// The parent in the source; `nil` for the root and for what was not in the source.
  private unowned let sourceParent: TrackedNode?
  /// The index in the source; `nil` for what was not there.
  let sourceIndex: Int?
  private let isRoot: Bool
  /// Whether it was replaced, with its subtree.
  private(set) var isUpdated = false
  /// Whether it is away from where it was.
  fileprivate(set) var isDetached = false
  /// Where it is in the end, if its surroundings are known from the source.
  var finalPath: IndexPath?
  /// Whether it must be inserted in the end, since an update took it from where it was.
  var isLost = false
  /// Its children that were in the source and were touched.
  private(set) var touched: [TrackedNode] = []
  private var children: Rope<TrackedNode>?

  /// An element that was inserted, or a root.
  init(isRoot: Bool = false) {
    self.isRoot = isRoot
    sourceParent = nil
    sourceIndex = nil
  }

  /// An element of the source.
  private init(sourceParent: TrackedNode, sourceIndex: Int) {
    isRoot = false
    self.sourceParent = sourceParent
    self.sourceIndex = sourceIndex
  }

  /// Whether it was inserted.
  var isInserted: Bool { sourceIndex == nil }

  /// The child that is at an index now.
  func child(at index: Int) -> TrackedNode {
    if let known = known(at: index) { return known }
    let node = remove(at: index)
    place(node, at: index)
    node.isDetached = false
    return node
  }

  /// Takes the child at an index out.
  func remove(at index: Int) -> TrackedNode {
    let node = known(at: index) ?? touch(at: index)
    node.isDetached = true
    children?.remove(at: index)
    return node
  }

  /// Puts a child in.
  func place(_ node: TrackedNode, at index: Int) {
    open()
    children?.insert(node, at: index)
  }

  /// Takes note that it was replaced: its children are others.
  func update() {
    isUpdated = true
    children = Rope(ofSource: false)
  }

  /// Its children now, in runs, after those that moved back to where they were are counted as not
  /// moved.
  func settle() -> [Rope<TrackedNode>.Piece] {
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

  /// Lets all nodes go, when they are needed no more.
  ///
  /// What has moved below what was its child holds it, and is held by it.
  func dismantle() {
    var rest = [self]
    while let node = rest.popLast() {
      rest += node.touched
      rest += node.children?.pieces.compactMap(\.node) ?? []
      node.touched = []
      node.children = nil
    }
  }

  /// For each piece where in the source the next begins that stayed.
  private func starts(of pieces: [Rope<TrackedNode>.Piece]) -> [Int] {
    var starts = Array(repeating: Int.max, count: pieces.count)
    var next = Int.max
    for i in pieces.indices.reversed() {
      starts[i] = next
      next = start(of: pieces[i]) ?? next
    }
    return starts
  }

  /// Where in the source the piece began, if it stayed.
  private func start(of piece: Rope<TrackedNode>.Piece) -> Int? {
    guard let node = piece.node else { return piece.source }
    return node.isDetached ? nil : node.sourceIndex
  }

  /// Makes its list of children, when the first of them is touched.
  private func open() {
    if children == nil { children = Rope(ofSource: isRoot || !isInserted) }
  }

  private func known(at index: Int) -> TrackedNode? {
    children?.piece(at: index).piece.node
  }

  /// The element of a run as one of its own.
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
