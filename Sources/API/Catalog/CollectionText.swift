internal import Connections
internal import JSON
internal import Model
internal import Wire

/// The elements of a list or map, written in slices of the client's time.
struct WrittenElements {
  private let elements: SourceCollection
  private var next = 0

  init(_ elements: SourceCollection) { self.elements = elements }

  /// Writes elements until the slice is over.
  ///
  /// - Returns: Whether all are written.
  mutating func write(to text: inout PieceBuffer, in slice: PartialRequest.Slice) -> Bool {
    if next == 0 { text.tail.append(UInt8(ascii: elements.isList ? "[" : "{")) }
    var (index, isUp) = (next, false)
    elements.forEach(from: next) { key, value in
      SourceCollection.append(key, to: &text.tail)
      text.append(value)
      text.cutIfLong()
      index += 1
      isUp = slice.isOver()
      return !isUp
    }
    next = index
    guard next == elements.count else { return false }
    text.tail.append(UInt8(ascii: elements.isList ? "]" : "}"))
    return true
  }
}

/// The text of one long list or map, which is written in slices of the client's time.
///
/// The elements are those of one position, also if the list changes meanwhile.
final class CollectionText: PartialRequest {
  /// The most elements that are written in one step.
  static let shortCount = 256

  /// The position of the elements.
  let position: UInt64
  private var elements: WrittenElements
  private let limit: Int
  private var text = PieceBuffer()

  init(of elements: SourceCollection, at position: UInt64, limit: Int) {
    self.elements = WrittenElements(elements)
    (self.position, self.limit) = (position, limit)
  }

  /// Goes on until the slice is over.
  ///
  /// - Throws: `result_too_large` as soon as the text does not fit into a line.
  override func goOn(_ slice: Slice) throws -> Bool {
    let isComplete = elements.write(to: &text, in: slice)
    guard text.count <= limit else { throw WireError.resultTooLarge(text.count, max: limit) }
    return isComplete
  }

  /// Moves the text to the end of a buffer.
  func move(to buffer: inout PieceBuffer) {
    var moved = PieceBuffer()
    swap(&moved, &text)
    buffer.append(moved)
  }
}
