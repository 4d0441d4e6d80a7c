/// An array in pieces, so that an insertion or a removal moves few of its elements.
///
/// An array of a million elements would move them all for each insertion at its beginning, which
/// takes a millisecond. A copy that is kept while the array changes costs a piece for each change,
/// not all elements.
@usableFromInline
package struct LongArray<Element> {
  /// The most elements of a piece; a full one is divided in two.
  @usableFromInline
  static var most: Int { 1024 }

  /// The pieces; none is empty.
  @usableFromInline
  var pieces: [[Element]] = []

  @usableFromInline
  var total = 0

  /// The place of an element: its piece, and the index within it.
  @usableFromInline
  package struct Place {
    @usableFromInline
    var piece: Int

    @usableFromInline
    var index: Int

    @inlinable
    init(_ piece: Int, _ index: Int) { (self.piece, self.index) = (piece, index) }
  }

  @inlinable
  package init() {}

  @inlinable
  package init(_ elements: some Collection<Element>) {
    var rest = elements[...]
    while !rest.isEmpty {
      pieces.append(Array(rest.prefix(Self.most / 2)))
      rest = rest.dropFirst(Self.most / 2)
    }
    total = elements.count
  }

  @inlinable
  package var count: Int { total }

  @inlinable
  package var isEmpty: Bool { total == 0 }

  @inlinable
  package var indices: Range<Int> { 0..<total }

  /// Returns the place of an element; the end belongs to the last piece.
  @inlinable
  func place(of index: Int) -> Place {
    var (piece, rest) = (0, index)
    while piece < pieces.count - 1, rest >= pieces[piece].count {
      rest -= pieces[piece].count
      piece += 1
    }
    return Place(piece, rest)
  }

  /// Returns the place of the first element that does not come before what is searched, or the end.
  ///
  /// - Parameter isBefore: Whether an element comes before; the array is sorted by it.
  @inlinable
  package func place(after isBefore: (Element) -> Bool) -> Place {
    guard !pieces.isEmpty else { return Place(0, 0) }
    var (low, high) = (0, pieces.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(pieces[middle][pieces[middle].count - 1]) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    let piece = low
    (low, high) = (0, pieces[piece].count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(pieces[piece][middle]) { low = middle + 1 } else { high = middle }
    }
    return Place(piece, low)
  }

  /// Returns the element at a place; `nil` at the end.
  @inlinable
  package func element(at place: Place) -> Element? {
    guard place.piece < pieces.count, place.index < pieces[place.piece].count else { return nil }
    return pieces[place.piece][place.index]
  }

  @inlinable
  package subscript(place: Place) -> Element {
    get { pieces[place.piece][place.index] }
    set { pieces[place.piece][place.index] = newValue }
  }

  @inlinable
  package subscript(index: Int) -> Element {
    get { self[place(of: index)] }
    set { self[place(of: index)] = newValue }
  }

  /// Inserts an element before another one, or at the end.
  @inlinable
  package mutating func insert(_ element: Element, at index: Int) {
    insert(element, at: place(of: index))
  }

  @inlinable
  package mutating func insert(_ element: Element, at place: Place) {
    if pieces.isEmpty { pieces.append([]) }
    var (piece, index) = (place.piece, place.index)
    if pieces[piece].count == Self.most {
      let half = Self.most / 2
      pieces.insert(Array(pieces[piece][half...]), at: piece + 1)
      pieces[piece].removeSubrange(half...)
      if index > half { (piece, index) = (piece + 1, index - half) }
    }
    pieces[piece].insert(element, at: index)
    total += 1
  }

  /// Removes and returns an element.
  @inlinable
  @discardableResult
  package mutating func remove(at index: Int) -> Element { remove(at: place(of: index)) }

  @inlinable
  @discardableResult
  package mutating func remove(at place: Place) -> Element {
    let element = pieces[place.piece].remove(at: place.index)
    if pieces[place.piece].isEmpty { pieces.remove(at: place.piece) }
    total -= 1
    return element
  }

  /// Calls a function with the elements from an index on, until it returns `false`.
  @inlinable
  package func forEach(from start: Int, _ body: (Element) -> Bool) {
    if start < total { forEach(from: place(of: start), body) }
  }

  @inlinable
  package func forEach(from place: Place, _ body: (Element) -> Bool) {
    guard !pieces.isEmpty else { return }
    var index = place.index
    for piece in pieces[place.piece...] {
      while index < piece.count {
        guard body(piece[index]) else { return }
        index += 1
      }
      index = 0
    }
  }
}

extension LongArray: Sequence {
  @inlinable
  package func makeIterator() -> FlattenSequence<[[Element]]>.Iterator {
    pieces.joined().makeIterator()
  }
}

extension LongArray: ExpressibleByArrayLiteral {
  @inlinable
  package init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension LongArray: Equatable where Element: Equatable {
  @inlinable
  package static func == (left: LongArray, right: LongArray) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

extension LongArray: Sendable where Element: Sendable {}

/// It is encoded as one array.
extension LongArray: Codable where Element: Codable {
  @usableFromInline
  package init(from decoder: any Decoder) throws { self.init(try [Element](from: decoder)) }
  @usableFromInline
  package func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}
