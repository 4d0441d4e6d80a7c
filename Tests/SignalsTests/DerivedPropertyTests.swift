import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// Derived properties are computed once per turn, never from a mixture of old and new values.
@Suite(.leavesNothing)
struct DerivedPropertyTests {
  let bag = DisposeBag()

  @Test
  func `a signal emits a mixture of old and new values; a derived property does not`() {
    let number = Property(1)
    let tenfold = number.map { $0 * 10 }
    let stream = Recorder<[Int], Never>()
    number.toSignal().combineLatest(with: tenfold.toSignal()) { [$0, $1] }
      .observe(with: stream.tell).dispose(in: bag)
    let derived = Recorder<[Int], Never>()
    number.combineLatest(with: tenfold) { [$0, $1] }.observe(with: derived.tell).dispose(in: bag)

    number.value = 2

    #expect(stream.elements == [[1, 10], [2, 10], [2, 20]])
    #expect(derived.elements == [[1, 10], [2, 20]])
    bag.dispose()
  }

  @Test(arguments: 1...6)
  func `a diamond of any depth emits once per turn`(depth: Int) {
    let source = Property(1)
    var present = source.map { $0 }
    for _ in 1...depth {
      let (left, right) = (present.map { $0 + 1 }, present.map { $0 - 1 })
      present = left.combineLatest(with: right, combine: +)
    }
    let recorder = Recorder<Int, Never>()
    present.observe(with: recorder.tell).dispose(in: bag)
    for value in 2...5 { source.value = value }
    #expect(recorder.elements == (1...5).map { $0 << depth })
    bag.dispose()
  }

  @Test
  func `paths of different lengths give one change`() {
    let source = Property(1)
    let long = source.map { $0 }.map { $0 }.map { $0 }
    let recorder = Recorder<[Int], Never>()
    combineLatest(source, long, source.map { -$0 }) { [$0, $1, $2] }
      .observe(with: recorder.tell).dispose(in: bag)
    source.value = 2
    #expect(recorder.elements == [[1, 1, -1], [2, 2, -2]])
    bag.dispose()
  }

  @Test
  func `a value is computed once per turn for any number of observers`() {
    let source = Property(1)
    var computed = 0
    let derived = source.map { value -> Int in
      computed += 1
      return value
    }
    for _ in 1...3 { derived.observe { _ in }.dispose(in: bag) }
    computed = 0
    source.value = 2
    #expect(computed == 1)
    bag.dispose()
  }

  @Test(arguments: [1, 2])
  func `a derived property receives a value that is set during a replay`(count: Int) {
    let source = Property(1)
    var recorders: [Recorder<Int, Never>] = []
    for factor in 1...count {
      let recorder = Recorder<Int, Never>()
      let derived: AnyProperty<Int> = source.map { $0 * factor }
      derived.observe(with: recorder.tell).dispose(in: bag)
      recorders.append(recorder)
    }
    source.observeNext { if $0 == 1 { source.value = 2 } }.dispose(in: bag)
    #expect(recorders.map(\.elements) == (1...count).map { [$0, 2 * $0] })
    bag.dispose()
  }

  @Test
  func `a derived value that is read during a turn is up to date`() {
    let source = Property(1)
    let derived = source.map { $0 * 2 }.map { $0 * 2 }
    var read: [Int] = []
    source.observeNext { _ in read.append(derived.value) }.dispose(in: bag)
    derived.observe { _ in }.dispose(in: bag)
    source.value = 2
    #expect(read == [4, 8])
    bag.dispose()
  }

  @Test
  func `a derived value without observers is up to date when it is read`() {
    let source = Property(1)
    let derived = source.map { $0 * 2 }.combineLatest(with: source, combine: +)
    source.value = 5
    #expect(derived.value == 15)
    source.silentUpdate(value: 6)
    #expect(derived.value == 18)
  }

  @Test
  func `properties that change in one turn cause one derived change`() {
    let (a, b) = (Property(1), Property(10))
    let sums = Recorder<Int, Never>()
    let values = Recorder<Int, Never>()
    a.combineLatest(with: b, combine: +).observe(with: sums.tell).dispose(in: bag)
    a.observe(with: values.tell).dispose(in: bag)
    inOneTurn(a, b) {
      a.value = 2
      a.value = 3
      b.value = 30
      #expect(a.value == 3)
    }
    #expect(sums.elements == [11, 33])
    #expect(values.elements == [1, 2, 3])
    bag.dispose()
  }

  @Test
  func `nested turns are one turn`() {
    let (a, b) = (Property(1), Property(10))
    let sums = Recorder<Int, Never>()
    a.combineLatest(with: b, combine: +).observe(with: sums.tell).dispose(in: bag)
    inOneTurn(a, b) {
      inOneTurn(a) { a.value = 2 }
      b.value = 20
    }
    #expect(sums.elements == [11, 22])
    bag.dispose()
  }

  @Test
  func `a source set by an observer of its derived value settles at the newest value`() {
    let source = Property(1)
    let doubled = source.map { $0 * 2 }
    var log: [String] = []
    doubled.observeNext {
      log.append("A\($0)")
      if $0 == 4 { source.value = 3 }
    }
    .dispose(in: bag)
    doubled.observeNext { log.append("B\($0)") }.dispose(in: bag)
    source.value = 2
    #expect(log == ["A2", "B2", "A4", "B4", "A6", "B6"])
    bag.dispose()
  }

  @Test
  func `another source that is set during a turn causes no mixture`() {
    let (a, b) = (Property(1), Property(1))
    a.observeNext { b.value = $0 }.dispose(in: bag)
    let pairs = Recorder<[Int], Never>()
    combineLatest(a, b) { [$0, $1] }.observe(with: pairs.tell).dispose(in: bag)
    a.value = 2
    #expect(pairs.elements == [[1, 1], [2, 2]])
    bag.dispose()
  }

  @Test
  func `a derived property completes when all its sources are deallocated`() {
    let recorder = Recorder<Int, Never>()
    var a: Property<Int>? = Property(1)
    var b: Property<Int>? = Property(2)
    do {
      guard let a, let b else { return }
      a.combineLatest(with: b, combine: +).observe(with: recorder.tell).dispose(in: bag)
    }
    a = nil
    #expect(recorder.events == [.next(3)])
    b?.value = 3
    b = nil
    #expect(recorder.events == [.next(3), .next(4), .completed])
    #expect(a == nil && b == nil)
  }

  @Test
  func `a derived property completes when all its sources have completed`() {
    let source = Property(1)
    let derived = source.map { $0 + 1 }
    let recorder = Recorder<Int, Never>()
    derived.observe(with: recorder.tell).dispose(in: bag)
    source.on(.completed)
    #expect(recorder.events == [.next(2), .completed])
    #expect(derived.recorded() == [.next(2), .completed])
  }

  @Test
  func `a derived property retains its sources, and is not retained without observers`() {
    weak var source: Property<Int>?
    var derived: AnyProperty<Int>?
    do {
      let held = Property(1)
      source = held
      derived = held.map { $0 }.map { $0 }
    }
    source?.value = 2
    #expect(derived?.value == 2)
    let run = derived?.observe { _ in }
    run?.dispose()
    derived = nil
    #expect(source == nil)
  }

  @Test
  func `up to six properties are combined`() {
    let source = Property(1)
    let parts = (1...6).map { factor in source.map { $0 * factor } }
    let sum = combineLatest(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]) {
      $0 + $1 + $2 + $3 + $4 + $5
    }
    let recorder = Recorder<Int, Never>()
    sum.observe(with: recorder.tell).dispose(in: bag)
    source.value = 2
    #expect(recorder.elements == [21, 42])
    #expect(combineLatest(parts[0], parts[1], parts[2]).value == (2, 4, 6))
    bag.dispose()
  }

  @Test
  func
    `a property derived during a delivery receives the next change, and others miss none`()
  {
    let source = Property(1)
    let (first, second) = (Recorder<Int, Never>(), Recorder<Int, Never>())
    source.map { $0 }.observe(with: first.tell).dispose(in: bag)
    source.dropFirst(1).first().observeNext { [bag] _ in
      source.map { $0 }.observe(with: second.tell).dispose(in: bag)
    }
    .dispose(in: bag)
    source.value = 2
    source.value = 3
    #expect(first.elements == [1, 2, 3])
    #expect(second.elements == [2, 3])
    bag.dispose()
  }

  @Test
  func `random graphs of properties emit once per turn and never a mixture`() {
    var random = Random(7)
    for _ in 0..<300 {
      let sources = (0..<3).map { _ in Property(random.below(100)) }
      var nets: [(property: AnyProperty<Int>, model: ([Int]) -> Int)] = sources.indices.map { i in
        (sources[i].readOnlyView, { $0[i] })
      }
      for _ in 0..<random.below(8) + 1 {
        let (a, b) = (nets[random.below(nets.count)], nets[random.below(nets.count)])
        if random.below(3) == 0 {
          nets.append((a.property.map { $0 &* 3 }, { a.model($0) &* 3 }))
        } else {
          nets.append(
            (
              a.property.combineLatest(with: b.property) { $0 &* 31 &+ $1 },
              { a.model($0) &* 31 &+ b.model($0) }
            ))
        }
      }
      let bag = DisposeBag()
      var told: [[Int]] = nets.map { _ in [] }
      for i in nets.indices where random.below(2) == 0 {
        nets[i].property.observeNext { told[i].append($0) }.dispose(in: bag)
      }
      for _ in 0..<5 {
        told = nets.map { _ in [] }
        sources[random.below(3)].value = random.below(100)
        let present = sources.map(\.value)
        for i in nets.indices {
          #expect(told[i].count <= 1)
          #expect(told[i].allSatisfy { $0 == nets[i].model(present) })
          #expect(nets[i].property.value == nets[i].model(present))
        }
      }
      bag.dispose()
    }
  }
}
