internal import JSON

/// A sorted set of names by their numbers, stored in chunks so that an insertion moves a few hundred
/// at most.
///
/// The names are sorted by their bytes. All functions take the list of the names.
struct SortedNumbers: Sendable {
  /// The most names in a chunk.
  ///
  /// A full chunk is split in two, or a new one begins behind the last.
  private static let pieceSize = 512

  /// The chunks in order; none is empty.
  private var pieces: ContiguousArray<ContiguousArray<UInt32>>

  private(set) var count: Int

  /// The position of a name.
  struct Cursor {
    fileprivate var piece: Int
    fileprivate var index: Int
  }

  /// - Parameter numbers: Numbers in any order, without duplicates.
  init(sorting numbers: ContiguousArray<UInt32>, in list: NameList) {
    let numbers = ContiguousArray(numbers.sorted { list[Int($0)].isBefore(list[Int($1)]) })
    count = numbers.count
    pieces = []
    for start in stride(from: 0, to: numbers.count, by: Self.pieceSize / 2) {
      pieces.append(
        ContiguousArray(numbers[start..<min(start + Self.pieceSize / 2, numbers.count)]))
    }
  }

  /// The number at a position; `nil` behind the last one.
  subscript(cursor: Cursor) -> Int? {
    cursor.piece < pieces.count ? Int(pieces[cursor.piece][cursor.index]) : nil
  }

  /// Returns the position of the first name that is not before `name`.
  func cursor(at name: Span<UInt8>, in list: NameList) -> Cursor {
    guard let piece = piece(of: name, in: list) else { return Cursor(piece: 0, index: 0) }
    let index = index(of: name, in: piece, list)
    return index < pieces[piece].count
      ? Cursor(piece: piece, index: index) : Cursor(piece: piece + 1, index: 0)
  }

  func next(after cursor: Cursor) -> Cursor {
    cursor.index + 1 < pieces[cursor.piece].count
      ? Cursor(piece: cursor.piece, index: cursor.index + 1)
      : Cursor(piece: cursor.piece + 1, index: 0)
  }

  /// Inserts a name, unless it exists.
  mutating func insert(_ number: Int, in list: NameList) {
    let wanted = UInt32(number)
    guard let piece = piece(of: list[number], in: list) ?? (pieces.isEmpty ? nil : 0) else {
      pieces = [[wanted]]
      count = 1
      return
    }
    let index = index(of: list[number], in: piece, list)
    guard index == pieces[piece].count || pieces[piece][index] != wanted else { return }
    count += 1
    let size = pieces[piece].count
    if size < Self.pieceSize {
      pieces[piece].insert(wanted, at: index)
    } else if index == size, piece == pieces.count - 1 {
      // Names that come in order leave full chunks behind.
      pieces.append(Self.piece([wanted]))
    } else {
      let half = size / 2
      let (first, second) = (pieces[piece][..<half], pieces[piece][half...])
      pieces[piece] = Self.piece(first)
      pieces.insert(Self.piece(second), at: piece + 1)
      if index <= half {
        pieces[piece].insert(wanted, at: index)
      } else {
        pieces[piece + 1].insert(wanted, at: index - half)
      }
    }
  }

  /// Returns a chunk with all of its room, because an array that grows may take twice the memory.
  private static func piece(_ numbers: some Collection<UInt32>) -> ContiguousArray<UInt32> {
    var piece: ContiguousArray<UInt32> = []
    piece.reserveCapacity(pieceSize)
    piece.append(contentsOf: numbers)
    return piece
  }

  /// Removes a name if it exists.
  mutating func remove(_ number: Int, in list: NameList) {
    guard let piece = piece(of: list[number], in: list) else { return }
    let index = index(of: list[number], in: piece, list)
    guard index < pieces[piece].count, pieces[piece][index] == UInt32(number) else { return }
    pieces[piece].remove(at: index)
    count -= 1
    if pieces[piece].isEmpty { pieces.remove(at: piece) }
  }

  /// Returns the numbers around a position, up to `count` on each side.
  func neighbours(of name: Span<UInt8>, count: Int, in list: NameList) -> [Int] {
    var numbers: [Int] = []
    var (after, place) = (0, cursor(at: name, in: list))
    let start = place
    while after < count, let next = self[place] {
      numbers.append(next)
      place = self.next(after: place)
      after += 1
    }
    var (piece, index) = (start.piece, start.index)
    for _ in 0..<count {
      if index > 0 {
        index -= 1
      } else {
        guard piece > 0 else { break }
        piece -= 1
        index = pieces[piece].count - 1
      }
      numbers.append(Int(pieces[piece][index]))
    }
    return numbers
  }

  /// Returns the last chunk whose first name is not after `name`, or `nil` if there is none.
  private func piece(of name: Span<UInt8>, in list: NameList) -> Int? {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if name.isBefore(list[Int(pieces[middle][0])]) { high = middle } else { low = middle + 1 }
    }
    return low > 0 ? low - 1 : nil
  }

  /// Returns the index of the first name in a chunk that is not before `name`.
  private func index(of name: Span<UInt8>, in piece: Int, _ list: NameList) -> Int {
    var (low, high) = (0, pieces[piece].count)
    while low < high {
      let middle = (low + high) / 2
      if list[Int(pieces[piece][middle])].isBefore(name) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Span<UInt8> {
  /// Returns whether these bytes are less than others, as in a dictionary.
  func isBefore(_ other: Span<UInt8>) -> Bool {
    let shared = Swift.min(count, other.count)
    var i = 0
    while i < shared {
      let (one, two) = unsafe (self[unchecked: i], other[unchecked: i])
      if one != two { return one < two }
      i &+= 1
    }
    return count < other.count
  }

  /// Returns whether these bytes begin with others.
  func hasPrefix(_ prefix: Span<UInt8>) -> Bool {
    count >= prefix.count && extracting(..<prefix.count).hasSameBytes(as: prefix)
  }
}
