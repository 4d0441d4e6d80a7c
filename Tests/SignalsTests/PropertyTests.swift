import Signals
import Testing

@Suite(.leavesNothing)
struct PropertyTests {
  let bag = DisposeBag()

  @Test
  func `an observer is told the present value, then the later ones, then of the end`() {
    var log: [Signal<Int, Never>.Event] = []
    do {
      let property = Property(1)
      property.observe { log.append($0) }.dispose(in: bag)
      property.value = 2
      property.update { $0 += 1 }
      #expect(property.value == 3)
    }
    #expect(log == [.next(1), .next(2), .next(3), .completed])
  }

  @Test
  func `whoever is told of a value reads that value`() {
    let property = Property(1)
    var read: [Int] = []
    property.observeNext { [property] _ in read.append(property.value) }.dispose(in: bag)
    property.value = 2
    #expect(read == [1, 2])
  }

  @Test
  func `a large value is changed in place`() {
    let property = Property(Array(0..<1000))
    let before = property.value.withUnsafeBufferPointer { $0.baseAddress }
    property.update { $0[0] = 7 }
    let after = property.value.withUnsafeBufferPointer { $0.baseAddress }
    #expect(before == after)
  }
}
