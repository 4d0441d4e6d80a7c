/// A first-in, first-out queue: a collection whose first element is the oldest one.
///
/// ``append(_:)``, ``prepend(_:)``, ``popFirst()``, ``removeFirst()`` and ``popLast()`` are amortized
/// O(1), and so is ``removeFirst(_:)`` for each removed element. Removed elements are released at
/// once. Memory is freed when the queue has become much shorter than it was.
///
/// Indices count from the oldest element, so ``popFirst()`` changes the index of all others.
@usableFromInline
package struct Queue<Element> {
  /// A ring of slots, of which the elements use ``count`` from ``head`` on; the others are `nil`.
  ///
  /// The number of slots is a power of two, or 0.
  @usableFromInline
  var slots: ContiguousArray<Element?> = []
  @usableFromInline
  var head = 0

  /// The number of elements.
  @usableFromInline
  package private(set) var count = 0

  /// The number of slots that are not freed, because they will probably be needed again.
  @usableFromInline
  let kept: Int

  /// Creates an empty queue.
  ///
  /// - Parameter kept: The number of slots that it keeps after a peak.
  @inlinable
  package init(keeping kept: Int = 256) {
    self.kept = kept
  }

  /// The number of elements for which there is memory.
  package var capacity: Int { slots.count }

  /// Returns the slot at a distance from ``head``, which may be negative.
  @inlinable
  @inline(__always)
  func slot(_ distance: Int) -> Int { (head &+ distance) & (slots.count &- 1) }

  /// Adds an element as the newest one.
  @inlinable
  @inline(__always)
  package mutating func append(_ element: consuming Element) {
    if count == slots.count { grow() }
    slots[slot(count)] = element
    count &+= 1
  }

  /// Adds an element as the oldest one.
  @inlinable
  package mutating func prepend(_ element: consuming Element) {
    if count == slots.count { grow() }
    head = slot(-1)
    slots[head] = element
    count &+= 1
  }

  /// Removes and returns the oldest element, or `nil` if the queue is empty.
  @inlinable
  package mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }

  /// Removes and returns the oldest element; the queue must not be empty.
  @inlinable
  @inline(__always)
  package mutating func removeFirst() -> Element {
    guard count > 0, let first = slots[head].take() else {
      preconditionFailure("the queue is empty")
    }
    head = slot(1)
    count &-= 1
    if isLarge { shrink() }
    return first
  }

  /// Removes and returns the newest element, or `nil` if the queue is empty.
  @inlinable
  package mutating func popLast() -> Element? {
    guard count > 0 else { return nil }
    count &-= 1
    let last = slots[slot(count)].take()
    if isLarge { shrink() }
    return last
  }

  /// Removes the oldest elements.
  ///
  /// - Parameter count: The number of elements to remove; at most ``count``.
  @inlinable
  package mutating func removeFirst(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "a queue has fewer elements")
    for _ in 0..<count {
      slots[head] = nil
      head = slot(1)
    }
    self.count &-= count
    if isLarge { shrink() }
  }

  /// Removes all elements that satisfy a condition; the others keep their order.
  @inlinable
  package mutating func removeAll(where isMeant: (Element) throws -> Bool) rethrows {
    var others = Queue(keeping: kept)
    for element in self where try !isMeant(element) { others.append(element) }
    self = others
  }

  /// Removes all elements, and frees the memory.
  @inlinable
  package mutating func removeAll() {
    self = Queue(keeping: kept)
  }

  /// Whether the elements fill less than a quarter of the memory, which is more than the queue keeps.
  @inlinable
  @inline(__always)
  var isLarge: Bool { slots.count > kept && slots.count / 4 > count }

  @usableFromInline
  @inline(never)
  mutating func grow() { resize(to: Swift.max(4, slots.count * 2)) }

  @usableFromInline
  @inline(never)
  mutating func shrink() {
    var size = 4
    while size < count * 2 || size < kept { size *= 2 }
    resize(to: size)
  }

  /// Moves the elements to a ring of another size, and counts no references.
  private mutating func resize(to size: Int) {
    var ring: ContiguousArray<Element?> = []
    ring.reserveCapacity(size)
    for i in 0..<count { ring.append(slots[slot(i)].take()) }
    while ring.count < size { ring.append(nil) }
    (slots, head) = (ring, 0)
  }
}

extension Queue: RandomAccessCollection, MutableCollection {
  /// The index of the oldest element: 0.
  @inlinable
  package var startIndex: Int { 0 }

  /// The index after the newest element: the number of elements.
  @inlinable
  package var endIndex: Int { count }

  /// The element at an index; 0 is the oldest one.
  @inlinable
  package subscript(index: Int) -> Element {
    get {
      guard index >= 0, index < count, let element = slots[slot(index)] else {
        preconditionFailure("a queue has no element \(index)")
      }
      return element
    }
    set {
      precondition(index >= 0 && index < count, "a queue has no element \(index)")
      slots[slot(index)] = newValue
    }
  }
}

extension Queue: Sendable where Element: Sendable {}
