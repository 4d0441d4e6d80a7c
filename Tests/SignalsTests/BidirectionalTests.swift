import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct BidirectionalTests {
  let bag = DisposeBag()

  @Test
  func `the left value wins at the start, then each side sets the other`() {
    let (left, right) = (Property(0), Property(100))
    let recorder = Recorder<Int, Never>()
    let binding = left.bidirectionalBind(to: right)
    right.observe(with: recorder.tell).dispose(in: bag)
    left.value = 50
    right.value = 60
    #expect(recorder.elements == [0, 50, 60])
    #expect(left.value == 60)
    binding.dispose()
    left.value = 70
    #expect(right.value == 60)
    bag.dispose()
  }

  @Test
  func `a value changed by an observer of one side reaches the other`() {
    let (left, right) = (Property(""), Property(""))
    left.bidirectionalBind(to: right)
    right.observeNext { if $0 != $0.lowercased() { right.value = $0.lowercased() } }
      .dispose(in: bag)
    left.value = "HELLO"
    #expect(left.value == "hello")
    #expect(right.value == "hello")
    right.value = "World"
    #expect(left.value == "world")
    bag.dispose()
  }

  @Test
  func `values sent by the right side before the binding are overruled`() {
    let (left, right) = (Property(0), ReplaySubject<Int, Never>(bufferSize: 2))
    right.send(7)
    left.bidirectionalBind(to: right)
    #expect(left.value == 0)
    right.send(8)
    #expect(left.value == 8)
  }

  @Test
  func `a closure compares values that are not Equatable`() {
    struct Size { var width = 0 }
    let (left, right) = (Property(Size()), Property(Size()))
    left.bidirectionalBind(to: right) { $0.width == $1.width }
    right.value = Size(width: 3)
    #expect(left.value.width == 3)
  }

  @Test
  func `two sides that never agree trap`() async {
    await #expect(processExitsWith: .failure) {
      let (left, right) = (Property(""), Property(""))
      left.bidirectionalBind(to: right)
      _ = left.observeNext { if $0 != $0.uppercased() { left.value = $0.uppercased() } }
      _ = right.observeNext { if $0 != $0.lowercased() { right.value = $0.lowercased() } }
      left.value = "a"
    }
  }
}
