/// An array in pieces, so that an insertion or a removal moves few of its elements.
///
/// An array of a million elements would move them all for each insertion at its beginning, which
/// takes a millisecond.
package struct LongArray<Element> {
  /// The most elements of a piece; a full one is divided in two.
  private static var most: Int { 1024 }

  /// The pieces; none is empty.
  private var pieces: [[Element]] = []

  package private(set) var count = 0

  package init() {}

  package init(_ elements: some Collection<Element>) {
    var rest = elements[...]
    while !rest.isEmpty {
      pieces.append(Array(rest.prefix(Self.most / 2)))
      rest = rest.dropFirst(Self.most / 2)
    }
    count = elements.count
  }

  package var isEmpty: Bool { count == 0 }
  package var indices: Range<Int> { 0..<count }

  /// Returns the piece of an element, and the index within it; the end belongs to the last piece.
  private func place(of index: Int) -> (piece: Int, index: Int) {
    var (piece, rest) = (0, index)
    while piece < pieces.count - 1, rest >= pieces[piece].count {
      rest -= pieces[piece].count
      piece += 1
    }
    return (piece, rest)
  }

  package subscript(index: Int) -> Element {
    get {
      let place = place(of: index)
      return pieces[place.piece][place.index]
    }
    set {
      let place = place(of: index)
      pieces[place.piece][place.index] = newValue
    }
  }

  /// Inserts an element before another one, or at the end.
  package mutating func insert(_ element: Element, at index: Int) {
    if pieces.isEmpty { pieces.append([]) }
    var (piece, index) = place(of: index)
    if pieces[piece].count == Self.most {
      let half = Self.most / 2
      pieces.insert(Array(pieces[piece][half...]), at: piece + 1)
      pieces[piece].removeSubrange(half...)
      if index > half { (piece, index) = (piece + 1, index - half) }
    }
    pieces[piece].insert(element, at: index)
    count += 1
  }

  /// Removes and returns an element.
  @discardableResult
  package mutating func remove(at index: Int) -> Element {
    let place = place(of: index)
    let element = pieces[place.piece].remove(at: place.index)
    if pieces[place.piece].isEmpty { pieces.remove(at: place.piece) }
    count -= 1
    return element
  }
}

extension LongArray: Sequence {
  package func makeIterator() -> some IteratorProtocol<Element> {
    pieces.lazy.joined().makeIterator()
  }
}

extension LongArray: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension LongArray: Equatable where Element: Equatable {
  package static func == (left: LongArray, right: LongArray) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

extension LongArray: Sendable where Element: Sendable {}

/// It is encoded as one array.
extension LongArray: Codable where Element: Codable {
  package init(from decoder: any Decoder) throws { self.init(try [Element](from: decoder)) }
  package func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}
