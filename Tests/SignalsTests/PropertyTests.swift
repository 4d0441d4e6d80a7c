import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct PropertyTests {
  let bag = DisposeBag()

  @Test
  func `an observer receives the current value, later values and the completion`() {
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
  func `the property already has the value that an observer receives`() {
    let property = Property(1)
    var read: [Int] = []
    property.observeNext { [property] _ in read.append(property.value) }.dispose(in: bag)
    property.value = 2
    bag.dispose()
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

  @Test
  func `a value set during a delivery arrives after it for every observer`() {
    let property = Property(0)
    var log: [String] = []
    property.observeNext { [property] in
      log.append("A\($0)")
      if $0 == 1 { property.value = 2 }
    }
    .dispose(in: bag)
    property.observeNext { log.append("B\($0)") }.dispose(in: bag)
    property.value = 1
    bag.dispose()
    #expect(log == ["A0", "B0", "A1", "B1", "A2", "B2"])
    #expect(property.value == 2)
  }

  @Test
  func `an observer that sets the value in its first call receives the new value`() {
    let property = Property(1)
    var heard: [Int] = []
    property.observeNext { [property] in
      heard.append($0)
      if $0 == 1 { property.value = 2 }
    }
    .dispose(in: bag)
    bag.dispose()
    #expect(heard == [1, 2])
  }

  @Test
  func `an observer added while values are pending receives only the newest`() {
    let property = Property(0)
    var heard: [Int] = []
    property.observeNext { [property, bag] in
      guard $0 == 1 else { return }
      property.value = 2
      property.value = 3
      property.observeNext { heard.append($0) }.dispose(in: bag)
    }
    .dispose(in: bag)
    property.value = 1
    bag.dispose()
    #expect(heard == [3])
  }

  @Test
  func `a silent update notifies no observer`() {
    let property = Property(1)
    let recorder = Recorder<Int, Never>()
    property.observe(with: recorder.tell).dispose(in: bag)
    property.silentUpdate(value: 2)
    #expect(recorder.elements == [1])
    #expect(property.value == 2)
    bag.dispose()
  }

  @Test
  func `a property accepts values like a subject`() {
    let property = Property(1)
    property.on(.next(2))
    property.send(3)
    #expect(property.value == 3)
  }

  @Test
  func `an observer of a completed property receives its value and the completion`() {
    let property = Property(1)
    property.on(.completed)
    #expect(property.recorded() == [.next(1), .completed])
    property.value = 2
    #expect(property.recorded() == [.next(2), .completed])
  }

  @Test
  func `a read-only view follows and retains its property`() {
    weak var property: Property<Int>?
    let view: AnyProperty<Int>
    do {
      let held = Property(1)
      property = held
      view = held.readOnlyView
    }
    property?.value = 2
    #expect(view.value == 2)
    #expect(view.elementsAtOnce() == [2])
  }

  @Test
  func `an observer disposed while its property is deallocated receives nothing`() {
    let late = SerialDisposable(otherDisposable: nil)
    var log: [String] = []
    do {
      let property = Property(1)
      property.observeCompleted {
        log.append("A")
        late.dispose()
      }
      .dispose(in: bag)
      late.otherDisposable = property.observeCompleted { log.append("B") }
    }
    #expect(log == ["A"])
  }
}
