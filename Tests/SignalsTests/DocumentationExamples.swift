import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SignalExampleTests {
  @Test
  func `the example of Signal works`() {
    let bag = DisposeBag()
    var shown: [Bool] = []
    let volume = Property(54)
    let isLoud = volume.map { $0 > 80 }.removeDuplicates()
    isLoud.observeNext { shown.append($0) }.dispose(in: bag)
    volume.value = 90
    #expect(shown == [false, true])
  }
}
