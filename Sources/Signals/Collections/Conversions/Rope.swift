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
