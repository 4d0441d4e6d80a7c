/// A sorted set of strings, stored in chunks so that an insertion moves a few hundred at most.
struct SortedNames: Sendable {
  /// The most names in a chunk; a larger chunk is split in two.
  private static let pieceSize = 512

  /// The chunks in order; none is empty.
  private var pieces: [[String]]

  private(set) var count: Int

  /// The position of a name.
  struct Cursor {
    fileprivate var piece: Int
    fileprivate var index: Int
  }

  /// - Parameter names: Names in any order, without duplicates.
  init(sorting names: [String]) {
    let isSorted = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
    let names = isSorted ? names : names.sorted()
    count = names.count
    pieces = stride(from: 0, to: names.count, by: Self.pieceSize / 2).map {
      Array(names[$0..<min($0 + Self.pieceSize / 2, names.count)])
    }
  }

  /// The name at a position; `nil` behind the last one.
  subscript(cursor: Cursor) -> String? {
    cursor.piece < pieces.count ? pieces[cursor.piece][cursor.index] : nil
  }

  /// Returns the position of the first name that is not less than `name`.
  func cursor(at name: String) -> Cursor {
    guard let piece = piece(of: name) else { return Cursor(piece: 0, index: 0) }
    let index = Self.index(of: name, in: pieces[piece])
    return index < pieces[piece].count
      ? Cursor(piece: piece, index: index) : Cursor(piece: piece + 1, index: 0)
  }

  func next(after cursor: Cursor) -> Cursor {
    cursor.index + 1 < pieces[cursor.piece].count
      ? Cursor(piece: cursor.piece, index: cursor.index + 1)
      : Cursor(piece: cursor.piece + 1, index: 0)
  }

  /// Inserts a name, unless it exists.
  mutating func insert(_ name: String) {
    guard let piece = piece(of: name) ?? (pieces.isEmpty ? nil : 0) else {
      pieces = [[name]]
      count = 1
      return
    }
    let index = Self.index(of: name, in: pieces[piece])
    guard index == pieces[piece].count || pieces[piece][index] != name else { return }
    pieces[piece].insert(name, at: index)
    count += 1
    guard pieces[piece].count > Self.pieceSize else { return }
    let half = Array(pieces[piece][(Self.pieceSize / 2)...])
    pieces[piece].removeSubrange((Self.pieceSize / 2)...)
    pieces.insert(half, at: piece + 1)
  }

  /// Removes a name if it exists.
  mutating func remove(_ name: String) {
    guard let piece = piece(of: name) else { return }
    let index = Self.index(of: name, in: pieces[piece])
    guard index < pieces[piece].count, pieces[piece][index] == name else { return }
    pieces[piece].remove(at: index)
    count -= 1
    if pieces[piece].isEmpty { pieces.remove(at: piece) }
  }

  /// Returns the names around a position, up to `count` on each side.
  func neighbours(of name: String, count: Int) -> [String] {
    var names: [String] = []
    var (after, place) = (0, cursor(at: name))
    let start = place
    while after < count, let next = self[place] {
      names.append(next)
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
      names.append(pieces[piece][index])
    }
    return names
  }

  /// Returns the last chunk whose first name is not greater than `name`, or `nil` if there is none.
  private func piece(of name: String) -> Int? {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle][0] <= name { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }

  /// Returns the index of the first name that is not less than `name`.
  private static func index(of name: String, in names: [String]) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle] < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
