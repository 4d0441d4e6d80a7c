internal import JSON
internal import Signals

/// The watched parts of the long values that were scanned last.
///
/// Many subscriptions to a pattern each look at all values that a commit has changed, one subscription
/// after the other. So there must be room for more than a few values.
struct FoundParts {
  /// The most bytes of values, and of places in them, if there are more than two values.
  private static let most = (bytes: 4 << 20, places: 65_536)

  /// The values that are always kept: the present one and the one before.
  private static let least = 2

  /// Most different values have different keys, which are made without reading a value.
  private struct Key: Hashable {
    let count: Int
    let samples: [UInt8]

    init(_ value: JSONText) {
      let bytes = value.text.utf8.span
      count = bytes.count
      let places = stride(from: bytes.count - 1, to: 0, by: -max(1, bytes.count / 16))
      samples = places.map { bytes[$0] }
    }
  }

  private typealias Found = (value: JSONText, places: [JSONPointer: Range<Int>])

  private var found: [Key: [Found]] = [:]
  private var order = Queue<Key>()
  private var (bytes, placeCount) = (0, 0)

  /// The value that was looked at last: most often the next one is the same.
  private var last: Found?

  var isEmpty: Bool { found.isEmpty }

  /// Returns the places of the watched parts in a value.
  mutating func places(
    in value: JSONText, _ find: (JSONText) -> [JSONPointer: Range<Int>]
  ) -> [JSONPointer: Range<Int>] {
    if let last, last.value.isIdentical(to: value) { return last.places }
    let key = Key(value)
    if let known = found[key] {
      let isSame: (Found) -> Bool = { $0.value.isIdentical(to: value) }
      if let same = known.first(where: isSame) ?? known.first(where: { $0.value == value }) {
        last = same
        return same.places
      }
    }
    let places = find(value)
    last = (value, places)
    found[key, default: []].append((value, places))
    order.append(key)
    bytes += value.text.utf8.count
    placeCount += places.count
    while order.count > Self.least, bytes > Self.most.bytes || placeCount > Self.most.places,
      let oldest = order.popFirst(), let dropped = found[oldest]?.removeFirst()
    {
      bytes -= dropped.value.text.utf8.count
      placeCount -= dropped.places.count
      if found[oldest]?.isEmpty == true { found[oldest] = nil }
    }
    return places
  }
}
