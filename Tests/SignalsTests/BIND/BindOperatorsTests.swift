import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct BindOperatorsTests {
  let name = Property("Kim")
  let text = Property("")

  @Test
  func `the right end follows`() {
    name ~> text
    #expect(text.value == "Kim")
    name.value = "Hobbit"
    #expect(text.value == "Hobbit")
    text.value = "Cartman"
    #expect(name.value == "Hobbit")
  }

  @Test
  func `the left end follows`() {
    text <~ name
    #expect(text.value == "Kim")
    name.value = "Hobbit"
    #expect(text.value == "Hobbit")
    text.value = "Cartman"
    #expect(name.value == "Hobbit")
  }

  @Test
  func `each end follows the other`() {
    name <> text
    #expect(text.value == "Kim")
    name.value = "Hobbit"
    #expect(text.value == "Hobbit")
    text.value = "Cartman"
    #expect(name.value == "Cartman")
  }

  @Test
  func `an operator with an exclamation mark assigns nothing at the start`() {
    let (a, b, c) = (Property("a"), Property("b"), Property("c"))
    name !~> a
    b <~! name
    name <!> c
    #expect([name, a, b, c].map(\.value) == ["Kim", "a", "b", "c"])
    name.value = "Hobbit"
    #expect([a, b, c].map(\.value) == ["Hobbit", "Hobbit", "Hobbit"])
    c.value = "Cartman"
    #expect([name, a, b].map(\.value) == ["Cartman", "Cartman", "Cartman"])
    a.value = "x"
    b.value = "y"
    #expect(name.value == "Cartman")
  }

  @Test
  func `a derived property can be bound`() {
    name.map { $0 + "!" } ~> text
    #expect(text.value == "Kim!")
    name.value = "Hobbit"
    #expect(text.value == "Hobbit!")
  }

  @Test
  func `a binding retains its source, not its target, and ends with the target`() {
    weak var source: Property<String>?
    weak var target: Property<String>?
    do {
      let held = Property("")
      target = held
      do {
        let name = Property("Kim")
        source = name
        name ~> held
      }
      source?.value = "Hobbit"
      #expect(held.value == "Hobbit")
    }
    #expect(target == nil)
    #expect(source == nil)
  }

  @Test
  func `a two-way binding retains the left end and not the right one`() {
    weak var left: Property<String>?
    weak var right: Property<String>?
    do {
      let held = Property("")
      right = held
      do {
        let name = Property("Kim")
        left = name
        name <> held
      }
      held.value = "Hobbit"
      #expect(left?.value == "Hobbit")
    }
    #expect(right == nil)
    #expect(left == nil)
  }

  @Test
  func `a subject can be bound, and equal values are passed on`() {
    let taps = PassthroughSubject<Int, Never>()
    let heard = PassthroughSubject<Int, Never>()
    var log: [Int] = []
    heard.observeNext { log.append($0) }.dispose(in: heard.disposeBag)
    taps ~> heard
    taps.send(1)
    taps.send(1)
    #expect(log == [1, 1])
  }

  @Test
  func `a binding is disposed by hand`() {
    let binding = name ~> text
    binding.dispose()
    name.value = "Hobbit"
    #expect(text.value == "Kim")
    #expect(binding.isDisposed)
    #expect(!name.hasObservers)
  }
}

/// Tests that a binding does not send a value back, and that no value is lost.
@Suite(.leavesNothing)
struct BindEchoTests {
  let a = Property(0.0)
  let b = Property(0.0)
  let bag = DisposeBag()
  /// Removes the fraction.
  let rounding = Transformer<Double, Double>({ $0.rounded() }, reverse: { $0 })

  @Test
  func `a transformed value is not sent back`() throws {
    try a.bind(.both, b, through: rounding)
    a.value = 1.4
    #expect([a.value, b.value] == [1.4, 1])
    b.value = 2.6
    #expect([a.value, b.value] == [2.6, 2.6])
  }

  @Test
  func `the echo of the first value does not hide the next value`() throws {
    let right = PassthroughSubject<Double, Never>()
    a.value = 1.4
    let binding = try a.bind(.both, right, through: rounding)
    right.send(1)
    #expect(a.value == 1)
    binding.dispose()
  }

  @Test
  func `an equal value is not assigned`() throws {
    var log: [Double] = []
    b.observeNext { log.append($0) }.dispose(in: bag)
    let binding = a <> b
    a.value = 1
    a.value = 1
    b.value = 1
    #expect(log == [0, 1, 1])
    #expect(binding.transferred == 1)
  }

  @Test
  func `a value set by an observer reaches the other end`() {
    b.observeNext { [b] value in if value > 10 { b.value = 10 } }.dispose(in: bag)
    a <> b
    a.value = 50
    #expect([a.value, b.value] == [10, 10])
    bag.dispose()
  }

  @Test
  func `a value set during a delivery is not lost`() {
    a.observeNext { [b] value in if value == 1 { b.value = 2 } }.dispose(in: bag)
    a <> b
    a.value = 1
    #expect([a.value, b.value] == [2, 2])
    bag.dispose()
  }

  @Test
  func `both ends agree after any sequence of changes`() {
    var random = Random(3)
    for _ in 0..<300 {
      let (a, b, c) = (Property(0), Property(0), Property(0))
      a <> b
      b <!> c
      let limit = 2 + random.below(5)
      let run = b.observeNext { [b] value in if value > limit { b.value = limit } }
      for _ in 0..<12 { [a, b, c][random.below(3)].value = random.below(8) }
      #expect(a.value == b.value)
      #expect(b.value == c.value)
      run.dispose()
    }
  }

  @Test
  func `25: three ends bound in a circle settle`() {
    let c = Property(0.0)
    let bindings = [a <> b, b <> c, c <> a]
    b.value = 5
    #expect([a, b, c].map(\.value) == [5, 5, 5])
    for binding in bindings { binding.dispose() }
  }

  /// An end that emits written values later, as an end that waits for a disk does.
  private final class Durable {
    let told = PassthroughSubject<Int, Never>()
    private var newest = 0
    private(set) var pending: [Int] = []

    var end: BindEndpoint<Int> {
      BindEndpoint(
        read: { [unowned self] in newest },
        write: { [unowned self] in
          newest = $0
          pending.append($0)
        },
        values: told.toSignal())
    }

    func set(_ value: Int) {
      newest = value
      pending.append(value)
    }

    /// Emits the written values: all of them, or only the newest.
    func commit(conflating: Bool = false) {
      let values = conflating ? pending.suffix(1) : pending[...]
      pending = []
      for value in values { told.send(value) }
    }
  }

  @Test(arguments: [false, true])
  func `an end that emits later does not undo newer values`(isConflating: Bool) throws {
    let (left, right) = (Durable(), Durable())
    let binding = try EndpointBinding(left.end, .bothLater, right.end, through: .identity).start()
    left.set(1)
    left.commit()
    left.set(2)
    left.commit()
    #expect(right.pending == [1, 2])
    right.commit(conflating: isConflating)
    #expect(left.pending.isEmpty)
    right.set(3)
    right.commit()
    #expect(left.pending == [3])
    left.commit()
    #expect(right.pending.isEmpty)
    #expect(binding.transferred == 3)
    binding.dispose()
  }

  @Test
  func `a refused value is not taken for an echo`() throws {
    let refused = PassthroughSubject<Int, Never>()
    let right = PassthroughSubject<Int, Never>()
    let end = BindEndpoint<Int>(
      write: { if $0 == 1 { throw Broken() } else { right.send($0) } }, values: right.toSignal())
    var problems = 0
    var heard: [Int] = []
    refused.observeNext { heard.append($0) }.dispose(in: bag)
    let binding = try EndpointBinding(
      refused.bindEnd(isHeld: true), .both, end, through: .identity
    ).start()
    binding.failures.observeNext { _ in problems += 1 }.dispose(in: bag)
    refused.send(1)
    right.send(1)
    #expect(problems == 1)
    #expect(heard == [1, 1])
    binding.dispose()
  }
}
