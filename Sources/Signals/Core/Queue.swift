/// First in, first out, both O(1) on average.
@usableFromInline
struct Queue<Element> {
  @usableFromInline
  var items: ContiguousArray<Element?> = []
  @usableFromInline
  var head = 0

  @inlinable
  init() {}

  @usableFromInline
  var count: Int { items.count - head }

  @inlinable
  var isEmpty: Bool { head == items.count }

  @usableFromInline
  mutating func append(_ element: Element) {
    items.append(element)
  }

  @usableFromInline
  mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let first = items[head]
    items[head] = nil
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= items.count {
      items.removeFirst(head)
      head = 0
    }
    return first
  }
}
