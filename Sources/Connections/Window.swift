/// The last of what has happened, up to a number of bytes; each has a number, the first 0.
struct Window<Element: WindowElement> {
  /// What is kept, behind some places of what is not any more.
  private var elements: [Element] = []

  /// The number of the first place.
  private var base = 0
  private var unused = 0

  /// Bytes of what is kept.
  private(set) var bytes = 0

  /// The number of the first that is kept.
  var firstIndex: Int { base + unused }

  /// The number after that of the last one.
  var endIndex: Int { base + elements.count }

  /// One that is kept, by its number.
  subscript(index: Int) -> Element { elements[index - base] }

  mutating func append(_ element: Element) {
    elements.append(element)
    bytes += element.size
  }

  /// Drops the oldest until the others take no more than so many bytes.
  ///
  /// - Returns: The last that was dropped; `nil` when none was.
  @discardableResult
  mutating func trim(to capacity: Int) -> Element? {
    var last: Element?
    while bytes > capacity { last = dropFirst() }
    closeGap()
    return last
  }

  /// Drops all before a number.
  mutating func drop(before index: Int) {
    while firstIndex < min(index, endIndex) { _ = dropFirst() }
    closeGap()
  }

  private mutating func dropFirst() -> Element {
    let first = elements[unused]
    bytes -= first.size
    // The place stays until there are many of them, what it held goes now.
    elements[unused] = .empty
    unused += 1
    return first
  }

  private mutating func closeGap() {
    guard unused == elements.count || unused > 1024 && unused > elements.count / 2 else { return }
    elements.removeFirst(unused)
    base += unused
    unused = 0
  }
}

/// What a ``Window`` keeps.
protocol WindowElement {
  /// About how many bytes it takes.
  var size: Int { get }

  /// One that takes none.
  static var empty: Self { get }
}

extension String: WindowElement {
  var size: Int { utf8.count }
  static var empty: String { "" }
}
