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
  package func finishMoves() -> [Rope<TrackedNode>.Piece] {
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

/// A list of unknown length: runs of untouched elements, with touched elements between them.
///
/// It is a treap, so a touch costs O(log n) in the number of touches, in whatever order they come.
package struct Rope<Node: AnyObject> {
  /// A run of consecutive elements.
  package struct Piece {
    /// Source index of the first element; `nil` for a touched element and in an unknown list.
    var source: Int?
    package var count: Int
    /// The element, if it was touched; `count` is 1 then.
    package var node: Node?
  }

  private struct Link {
    var piece: Piece
    let priority: UInt64
    var left = -1
    var right = -1
    /// Number of elements in this subtree.
    var count: Int
  }

  /// A length that no list reaches.
  private static var endless: Int { Int.max / 4 }

  private var links: [Link] = []
  private var root = -1
  private var chance: UInt64 = 0x9E37_79B9_7F4A_7C15

  /// Creates a list without touched elements: the source list or an unknown one.
  init(ofSource: Bool) {
    root = add(Piece(source: ofSource ? 0 : nil, count: Self.endless, node: nil))
  }

  /// Returns the piece that contains an index, and the index of its first element.
  func piece(at index: Int) -> (piece: Piece, start: Int) {
    var (link, start) = (root, 0)
    while true {
      let left = count(links[link].left)
      let own = start + left
      if index < own {
        link = links[link].left
      } else if index < own + links[link].piece.count {
        return (links[link].piece, own)
      } else {
        start = own + links[link].piece.count
        link = links[link].right
      }
    }
  }

  /// Removes one element.
  mutating func remove(at index: Int) {
    let (left, rest) = split(root, at: index)
    let (_, right) = split(rest, at: 1)
    root = merge(left, right)
  }

  /// Inserts one element.
  mutating func insert(_ node: Node, at index: Int) {
    let (left, right) = split(root, at: index)
    let new = add(Piece(source: nil, count: 1, node: node))
    root = merge(merge(left, new), right)
  }

  /// All pieces, in order.
  var pieces: [Piece] {
    var pieces: [Piece] = []
    var (link, path) = (root, [Int]())
    while link >= 0 || !path.isEmpty {
      while link >= 0 {
        path.append(link)
        link = links[link].left
      }
      let last = path.removeLast()
      pieces.append(links[last].piece)
      link = links[last].right
    }
    return pieces
  }

  private func count(_ link: Int) -> Int {
    link < 0 ? 0 : links[link].count
  }

  private mutating func add(_ piece: Piece) -> Int {
    chance ^= chance << 13  // xorshift: the same shape in each run
    chance ^= chance >> 7
    chance ^= chance << 17
    links.append(Link(piece: piece, priority: chance, count: piece.count))
    return links.count - 1
  }

  private mutating func recount(_ link: Int) {
    links[link].count =
      count(links[link].left) + links[link].piece.count + count(links[link].right)
  }

  /// Splits a subtree into its first `index` elements and the rest.
  private mutating func split(_ link: Int, at index: Int) -> (Int, Int) {
    guard link >= 0 else { return (-1, -1) }
    let left = count(links[link].left)
    let piece = links[link].piece
    if index <= left {
      let (first, second) = split(links[link].left, at: index)
      links[link].left = second
      recount(link)
      return (first, link)
    }
    if index >= left + piece.count {
      let (first, second) = split(links[link].right, at: index - left - piece.count)
      links[link].right = first
      recount(link)
      return (link, second)
    }
    let taken = index - left
    let rest = add(
      Piece(source: piece.source.map { $0 + taken }, count: piece.count - taken, node: nil))
    let right = merge(rest, links[link].right)
    links[link].piece.count = taken
    links[link].right = -1
    recount(link)
    return (link, right)
  }

  private mutating func merge(_ first: Int, _ second: Int) -> Int {
    guard first >= 0 else { return second }
    guard second >= 0 else { return first }
    if links[first].priority > links[second].priority {
      links[first].right = merge(links[first].right, second)
      recount(first)
      return first
    }
    links[second].left = merge(first, links[second].left)
    recount(second)
    return second
  }
}
