import TestSupport
import Testing
@testable import Signals

@Suite(.leavesNothing)
struct QueueTests {
  @Test
  func `the oldest element leaves first`() {
    var queue = Queue<String>()
    #expect(queue.isEmpty && queue.first == nil && queue.last == nil && queue.popFirst() == nil)
    queue.append("a")
    queue.append("b")
    queue.append("c")
    #expect(queue.first == "a" && queue.last == "c" && queue.count == 3)
    #expect(queue.popFirst() == "a")
    #expect(Array(queue) == ["b", "c"])
    #expect(queue.popLast() == "c" && queue.popLast() == "b" && queue.popLast() == nil)
  }

  @Test
  func `an element that is nil is an element`() {
    var queue = Queue<Int?>()
    queue.append(nil)
    queue.append(1)
    #expect(queue.count == 2)
    #expect(queue.popFirst() == .some(nil))
    #expect(queue.popFirst() == 1)
    #expect(queue.popFirst() == nil)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a queue behaves as an array`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var (queue, array) = (Queue<Int>(), [Int]())
    // Even seeds grow in long phases, odd ones stay short.
    var growth = 50
    for step in 0..<3_000 {
      if step % 300 == 0 { growth = seed % 2 == 0 ? [20, 80][Int(random.next() % 2)] : 50 }
      if Int(random.next() % 100) < growth {
        if random.next() % 5 == 0 {
          queue.prepend(step)
          array.insert(step, at: 0)
        } else {
          queue.append(step)
          array.append(step)
        }
      } else {
        switch random.next() % 12 {
        case 0:
          let count = Int(random.next() % UInt64(array.count + 1))
          queue.removeFirst(count)
          array.removeFirst(count)
        case 1...3: #expect(queue.popLast() == array.popLast())
        case 4:
          queue.removeAll { $0 % 7 == 0 }
          array.removeAll { $0 % 7 == 0 }
        case 5 where !array.isEmpty:
          let index = Int(random.next() % UInt64(array.count))
          queue[index] = -step
          array[index] = -step
        case 6 where !array.isEmpty: #expect(queue.removeFirst() == array.removeFirst())
        default: #expect(queue.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
        }
      }
      guard Array(queue) == array, queue.count == array.count, queue.first == array.first,
        queue.last == array.last
      else {
        Issue.record("step \(step): \(Array(queue)) instead of \(array)")
        return
      }
    }
  }

  @Test
  func `a copy is independent`() {
    var queue = Queue<Int>()
    for i in 0..<10 { queue.append(i) }
    var copy = queue
    copy.removeFirst(5)
    copy.prepend(100)
    #expect(Array(queue) == Array(0..<10))
    #expect(Array(copy) == [100, 5, 6, 7, 8, 9])
  }

  @Test
  func `removed elements are released at once`() {
    final class Object {}
    var queue = Queue<Object>()
    weak var first: Object?
    weak var second: Object?
    do {
      let objects = [Object(), Object(), Object()]
      (first, second) = (objects[0], objects[1])
      for object in objects { queue.append(object) }
    }
    _ = queue.popFirst()
    #expect(first == nil && second != nil)
    queue.removeFirst(1)
    #expect(second == nil)
    #expect(queue.count == 1)
  }

  @Test
  func `memory is freed after a peak, even if the queue is never empty`() {
    var queue = Queue<Int>()
    for i in 0..<100_000 { queue.append(i) }
    for _ in 0..<99_990 { _ = queue.popFirst() }
    #expect(Array(queue) == Array(99_990..<100_000))
    #expect(queue.capacity < 1_000)

    for i in 0..<100_000 { queue.append(i) }
    queue.removeFirst(100_000)
    #expect(queue.count == 10)
    #expect(queue.capacity < 1_000)

    for i in 0..<100_000 { queue.append(i) }
    while queue.count > 10 { _ = queue.popLast() }
    #expect(queue.capacity < 1_000)

    queue.removeAll()
    #expect(queue.isEmpty && queue.capacity == 0)
  }

  @Test
  func `a short queue in steady use stays small`() {
    var queue = Queue<Int>()
    for i in 0..<100_000 {
      queue.append(i)
      if i >= 3 { #expect(queue.popFirst() == i - 3) }
    }
    #expect(queue.capacity <= 512)
  }

  @Test
  func `a queue keeps the memory that it was made for`() {
    var queue = Queue<Int>(keeping: 4096)
    for _ in 0..<3 {
      for i in 0..<4096 { queue.append(i) }
      queue.removeFirst(4096)
      #expect(queue.capacity == 4096)
    }
    for i in 0..<100_000 { queue.append(i) }
    queue.removeFirst(100_000)
    #expect(queue.capacity == 4096)
  }

  @Test
  func `elements added in front take amortized constant time`() {
    var queue = Queue<Int>()
    // With a copy of all elements each time, this would move 80 GB.
    for i in 0..<100_000 { queue.prepend(i) }
    #expect(queue.first == 99_999 && queue.last == 0 && queue.count == 100_000)
  }
}
