/// The most recent elements up to a number of bytes.
///
/// Each element has an index; the first one is 0.
struct SlidingWindow<Element: WindowElement> {
  /// The retained elements.
  ///
  /// The first ``unused`` slots are already dropped.
  private var elements: [Element] = []

  /// The index of the first slot.
  private var base = 0
  private var unused = 0

  /// The bytes of the retained elements.
  private(set) var bytes = 0

  /// The index of the first retained element.
  var firstIndex: Int { base + unused }

  /// The index after the last element.
  var endIndex: Int { base + elements.count }

  /// A retained element, by its index.
  subscript(index: Int) -> Element { elements[index - base] }

  mutating func append(_ element: Element) {
    elements.append(element)
    bytes += element.size
  }

  /// Drops the oldest elements until the rest takes at most `capacity` bytes.
  ///
  /// - Returns: The last dropped element; `nil` if none was dropped.
  @discardableResult
  mutating func trim(to capacity: Int) -> Element? {
    var last: Element?
    while bytes > capacity { last = dropFirst() }
    closeGap()
    return last
  }

  /// Drops all elements before an index.
  mutating func drop(before index: Int) {
    while firstIndex < min(index, endIndex) { _ = dropFirst() }
    closeGap()
  }

  private mutating func dropFirst() -> Element {
    let first = elements[unused]
    bytes -= first.size
    // Frees the element now; the empty slots are removed together later.
    elements[unused] = .empty
    unused += 1
    return first
  }

  private mutating func closeGap() {
    guard unused == elements.count || unused > 16 && unused > elements.count / 2 else { return }
    elements.removeFirst(unused)
    base += unused
    unused = 0
  }
}

/// An element of a ``Window``.
protocol WindowElement {
  /// The approximate size in bytes, with the memory around its strings.
  var size: Int { get }

  /// A placeholder of size 0.
  static var empty: Self { get }
}

extension String: WindowElement {
  var size: Int { utf8.count + MemoryLayout<String>.stride + Self.headerBytes }

  /// The bytes of memory that a long string takes besides its UTF-8.
  static var headerBytes: Int { 32 }

  static var empty: String { "" }
}
