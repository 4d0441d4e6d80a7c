/// A FIFO queue whose `append` and `popFirst` are amortized O(1).
///
/// The newest element can be removed too.
public struct Queue<Element> {
  @usableFromInline
  var items: ContiguousArray<Element?> = []
  @usableFromInline
  var head = 0

  /// Creates an empty queue.
  @inlinable
  public init() {}

  /// The number of elements.
  @inlinable
  public var count: Int { items.count - head }

  /// Whether the queue is empty.
  @inlinable
  public var isEmpty: Bool { head == items.count }

  /// The oldest element, or `nil` if the queue is empty.
  @inlinable
  public var first: Element? { isEmpty ? nil : items[head] }

  /// The newest element, or `nil` if the queue is empty.
  @inlinable
  public var last: Element? { isEmpty ? nil : items[items.count - 1] }

  /// Adds an element as the newest one.
  @inlinable
  public mutating func append(_ element: Element) {
    items.append(element)
  }

  /// Removes and returns the oldest element, or `nil` if the queue is empty.
  @inlinable
  public mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let first = items[head]
    items[head] = nil
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: head <= 4096)
      head = 0
    } else if head >= 64, head * 2 >= items.count {
      items.removeFirst(head)
      head = 0
    }
    return first
  }

  /// Removes and returns the newest element, or `nil` if the queue is empty.
  @inlinable
  public mutating func popLast() -> Element? {
    guard !isEmpty else { return nil }
    return items.removeLast()
  }

  /// All elements, the oldest first.
  @inlinable
  public var elements: some Sequence<Element> { items[head...].lazy.compactMap(\.self) }
}

/// Turns recursion into a loop: a step that requests the next step while it runs uses no stack.
final class Trampoline {
  private var isRunning = false
  private var isAsked = false

  /// Runs `step` in a loop until no further step was requested.
  ///
  /// A call from within a step only requests one more round of the outermost `step`.
  func bounce(_ step: () -> Void) {
    isAsked = true
    guard !isRunning else { return }
    isRunning = true
    while isAsked {
      isAsked = false
      step()
    }
    isRunning = false
  }
}
