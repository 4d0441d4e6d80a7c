/// A first-in, first-out queue: a collection whose first element is the oldest one.
///
/// ``append(_:)``, ``popFirst()``, ``removeFirst()`` and ``popLast()`` are amortized O(1), and so is
/// ``removeFirst(_:)`` for each removed element. Removed elements are released at once. Memory is
/// freed when the queue has become much shorter than it was.
///
/// Indices count from the oldest element, so ``popFirst()`` changes the index of all others.
@usableFromInline
package struct Queue<Element> {
  /// The elements from ``head`` on; the slots before it are `nil`.
  @usableFromInline
  var slots: ContiguousArray<Element?> = []
  @usableFromInline
  var head = 0

  /// The number of empty slots below which they are not removed.
  @usableFromInline
  static var smallGap: Int { 64 }

  /// The capacity that an empty queue keeps, because it will probably need it again.
  @usableFromInline
  static var smallCapacity: Int { 256 }

  /// Creates an empty queue.
  @inlinable
  package init() {}

  /// Adds an element as the newest one.
  @inlinable
  package mutating func append(_ element: consuming Element) {
    slots.append(element)
  }

  /// Adds an element as the oldest one; amortized O(1).
  @inlinable
  package mutating func prepend(_ element: Element) {
    if head == 0 {
      head = count + 1
      slots.insert(contentsOf: repeatElement(nil, count: head), at: 0)
    }
    head -= 1
    slots[head] = element
  }

  /// Removes and returns the oldest element, or `nil` if the queue is empty.
  @inlinable
  package mutating func popFirst() -> Element? {
    guard head < slots.count else { return nil }
    let first = slots[head].take()
    head += 1
    tidy()
    return first
  }

  /// Removes and returns the oldest element; the queue must not be empty.
  @inlinable
  package mutating func removeFirst() -> Element {
    guard head < slots.count, let first = slots[head].take() else {
      preconditionFailure("the queue is empty")
    }
    head += 1
    tidy()
    return first
  }

  /// Removes and returns the newest element, or `nil` if the queue is empty.
  @inlinable
  package mutating func popLast() -> Element? {
    guard !isEmpty else { return nil }
    let last = slots.removeLast()
    tidy()
    return last
  }

  /// Removes the oldest elements.
  ///
  /// - Parameter count: The number of elements to remove; at most ``count``.
  @inlinable
  package mutating func removeFirst(_ count: Int) {
    precondition(count >= 0 && count <= self.count, "a queue has fewer elements")
    for index in head..<head + count { slots[index] = nil }
    head += count
    tidy()
  }

  /// Removes all elements that satisfy a condition; the others keep their order.
  @inlinable
  package mutating func removeAll(where isMeant: (Element) throws -> Bool) rethrows {
    try slots.removeAll { slot in
      guard let slot else { return true }
      return try isMeant(slot)
    }
    head = 0
    tidy()
  }

  /// Removes all elements.
  @inlinable
  package mutating func removeAll() {
    self = Queue()
  }

  /// Removes the empty slots if they are at least half of all, and frees memory after a peak.
  @inlinable
  mutating func tidy() {
    if head == slots.count {
      slots.removeAll(keepingCapacity: slots.capacity <= Self.smallCapacity)
      head = 0
    } else if head >= Self.smallGap, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    if slots.capacity > Self.smallCapacity, slots.capacity / 4 > slots.count {
      var fitting: ContiguousArray<Element?> = []
      fitting.reserveCapacity(slots.count)
      // Moves the elements, and counts no references.
      for i in slots.indices { fitting.append(slots[i].take()) }
      slots = fitting
    }
  }
}

extension Queue: RandomAccessCollection, MutableCollection {
  /// The index of the oldest element: 0.
  @inlinable
  package var startIndex: Int { 0 }

  /// The index after the newest element: the number of elements.
  @inlinable
  package var endIndex: Int { slots.count - head }

  /// The element at an index; 0 is the oldest one.
  @inlinable
  package subscript(index: Int) -> Element {
    get {
      guard index >= 0, let element = slots[head + index] else {
        preconditionFailure("a queue has no element \(index)")
      }
      return element
    }
    set {
      precondition(index >= 0, "a queue has no element \(index)")
      slots[head + index] = newValue
    }
  }
}

extension Queue: Sendable where Element: Sendable {}
