import Signals
import Testing

@Suite(.leavesNothing)
struct LifetimeTests {
  final class Target: DisposeBagProvider {
    let bag = DisposeBag()
    var values: [Int] = []
  }

  @Test
  func `a binding lives as long as its target and does not hold it`() {
    let subject = PassthroughSubject<Int, Never>()
    weak var target: Target?
    do {
      let held = Target()
      target = held
      subject.bind(to: held) { $0.values.append($1) }
      subject.send(1)
      #expect(held.values == [1])
    }
    #expect(target == nil)
    #expect(!subject.hasObservers)
  }

  @Test
  func `a binding holds its source`() {
    let target = Target()
    weak var source: Property<Int>?
    do {
      let held = Property(1)
      source = held
      held.bind(to: target) { $0.values.append($1) }
    }
    source?.value = 2
    #expect(target.values == [1, 2])
    target.bag.dispose()
    #expect(source == nil)
  }

  @Test
  func `a bag disposes the newest first, and at once what comes too late`() {
    var log: [Int] = []
    let bag = DisposeBag()
    for i in 1...3 { BlockDisposable { log.append(i) }.dispose(in: bag) }
    bag.dispose()
    BlockDisposable { log.append(4) }.dispose(in: bag)
    bag.dispose()
    #expect(log == [3, 2, 1, 4])
  }
}
