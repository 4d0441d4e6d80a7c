import EventSourcing
import Features
import ServiceTestSupport
import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct SampledTests {
  let scheduler = ManualScheduler()
  let bag = DisposeBag()

  @Test
  func `a value is measured at its interval, only while it has observers`() {
    var measured = 0
    let sampled = PolledValue(every: 2, on: scheduler) {
      measured += 1
      return measured
    }
    scheduler.advance(10)
    #expect(measured == 0)
    #expect(sampled.value == 1)
    var first: [Int] = []
    var second: [Int] = []
    let one = sampled.observeNext { first.append($0) }
    scheduler.advance(4)
    let two = sampled.observeNext { second.append($0) }
    scheduler.advance(2)
    one.dispose()
    scheduler.advance(2)
    two.dispose()
    #expect(first == [2, 3, 4, 5])
    #expect(second == [4, 5, 6])
    #expect(scheduler.count == 0)
    scheduler.advance(10)
    #expect(measured == 6)
  }

  @Test
  func `an unchanged value is not emitted again`() {
    var value = 1
    let sampled = PolledValue(every: 1, on: scheduler) { value }
    var heard: [Int] = []
    sampled.observeNext { heard.append($0) }.dispose(in: bag)
    scheduler.advance(3)
    value = 2
    sampled.refresh()
    scheduler.advance(3)
    #expect(heard == [1, 2])
  }

  @Test
  func `processor load covers the time since the last measurement`() {
    struct Probe: MachineProbe {
      final class Times {
        var now = ProcessorTimes(busy: 500, total: 1000, cores: 2)
      }
      let times = Times()
      var load: Load? { nil }
      var memory: Memory? { nil }
      var processorTimes: ProcessorTimes? { times.now }
      var uptime: Double? { 1.7 }
      var disks: [Disk] { [] }
    }
    let probe = Probe()
    let system = SystemService(probe, on: scheduler)
    var busy: [Double?] = []
    system.processor.observeNext { busy.append($0?.busy) }.dispose(in: bag)
    probe.times.now = ProcessorTimes(busy: 525, total: 1100, cores: 2)
    scheduler.advance(1)
    #expect(busy == [0.5, 0.25])
    #expect(system.uptime.value == 2)
    #expect(system.load.value == nil)
  }
}
