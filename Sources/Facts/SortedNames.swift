/// Strings in order, each once, in pieces: to insert one moves a few hundred others at most.
struct SortedNames: Sendable {
  /// Names of a piece before it is cut in two.
  private static let pieceSize = 512

  /// None of them is empty.
  private var pieces: [[String]]

  private(set) var count: Int

  /// Where a name stands.
  struct Cursor {
    fileprivate var piece: Int
    fileprivate var index: Int
  }

  /// - Parameter names: In any order, each once.
  init(sorting names: [String]) {
    let isSorted = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
    let names = isSorted ? names : names.sorted()
    count = names.count
    pieces = stride(from: 0, to: names.count, by: Self.pieceSize / 2).map {
      Array(names[$0..<min($0 + Self.pieceSize / 2, names.count)])
    }
  }

  /// The name at a place; `nil` behind the last one.
  subscript(cursor: Cursor) -> String? {
    cursor.piece < pieces.count ? pieces[cursor.piece][cursor.index] : nil
  }

  /// The place of the first name that is not before another.
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

  /// Takes a name in, unless it is there.
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

  /// Takes a name away, if it is there.
  mutating func remove(_ name: String) {
    guard let piece = piece(of: name) else { return }
    let index = Self.index(of: name, in: pieces[piece])
    guard index < pieces[piece].count, pieces[piece][index] == name else { return }
    pieces[piece].remove(at: index)
    count -= 1
    if pieces[piece].isEmpty { pieces.remove(at: piece) }
  }

  /// The names before and behind a place, `count` of them on each side.
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

  /// The last piece that begins with a name or one before it; `nil` when all begin behind it.
  private func piece(of name: String) -> Int? {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle][0] <= name { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }

  /// The index of the first that is not before a name.
  private static func index(of name: String, in names: [String]) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle] < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
