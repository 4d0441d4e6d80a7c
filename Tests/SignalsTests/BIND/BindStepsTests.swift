import Signals
import SignalsTestSupport
import TestSupport
import Testing

/// Operators of time in a pipeline; a character of a diagram is a second.
@Suite(.leavesNothing)
struct BindStepsTests {
  private let time = VirtualTime()

  private var clock: BindClock {
    BindClock(now: { [time] in time.now }) { [time] seconds, action in
      time.schedule(after: seconds, action)
    }
  }

  /// Returns the emitted values as a diagram: `-` nothing, `a` a value, `(ab)` two in one second.
  private func draw(
    _ input: String, restoring state: [[String?]]? = nil, for seconds: Int,
    _ steps: BindStep<String>...
  ) -> String {
    let pipeline = BindPipeline(steps, clock) { _ in }
    var emitted: [Int: String] = [:]
    let start = time.now
    pipeline.onOutput = { [time] in emitted[Int(time.now - start), default: ""] += $0 }
    pipeline.start()
    if let state { pipeline.restore(state) }
    for (second, event) in parse(input) {
      guard case .next(let value) = event else { continue }
      time.advance(by: start + second - time.now)
      pipeline.pass(value)
    }
    time.advance(by: start + Double(seconds) - time.now)
    pipeline.stop()
    return (0...seconds).map { second in
      let values = emitted[second] ?? "-"
      return values.count > 1 ? "(\(values))" : values
    }.joined()
  }

  private static func stage(_ make: @escaping () -> any BindStage<String>) -> BindStep<String> {
    .stage(make)
  }

  @Test(arguments: [
    ("a---------", "---a------"), ("ab-c------", "------c---"),
    // An equal value does not prolong the time.
    ("aaaaaa----", "---a------"),
    // A value that changes back to the last emitted one is not emitted.
    ("a----b-a--------", "---a------------"), ("a----b-b--------", "---a----b-------"),
  ])
  func `debounce emits a value that has not changed`(input: String, output: String) {
    #expect(
      draw(input, for: input.count - 1, Self.stage { DebounceStage(3) }) == output)
  }

  @Test(arguments: [
    ("a--------", "---a-----"), ("ab-cd-----", "---b--d---"), ("a---b----", "---a---b-"),
  ])
  func `sample emits the newest value once per interval`(input: String, output: String) {
    #expect(draw(input, for: input.count - 1, Self.stage { SampleStage(3) }) == output)
  }

  @Test(arguments: [
    ("a--------", "a--------"), ("abc------", "a--c-----"), ("ab-cd-----", "a--b--d---"),
    ("a---b----", "a---b----"),
  ])
  func `throttle emits the first value, then the newest`(input: String, output: String) {
    #expect(draw(input, for: input.count - 1, Self.stage { ThrottleStage(3) }) == output)
  }

  @Test
  func `delay emits each value later, in order`() {
    let output = draw("ab-(cd)----", for: 9, Self.stage { Self.delay(3) })
    #expect(output == "---ab-(cd)---")
  }

  private static func delay(_ seconds: Double) -> DelayStage<String> {
    DelayStage(seconds, most: (count: 3, weight: 10)) { $0.utf8.count }
  }

  @Test
  func `delay keeps a bounded number and weight of values, and always the newest`() {
    let stage = Self.delay(10)
    var emitted: [String] = []
    stage.start(clock) { emitted.append($0) }
    for i in 0..<1000 { stage.receive("\(i % 10)") }
    #expect(stage.count == 3)
    #expect(time.waiting == 3)
    time.run()
    #expect(emitted == ["0", "1", "9"])
    for text in ["1234", "5678", "123", "12"] { stage.receive(text) }
    #expect(stage.count == 3)
    time.run()
    #expect(emitted.dropFirst(3) == ["1234", "123", "12"])
    stage.stop()
  }

  @Test
  func `distinct drops equal values`() {
    #expect(draw("aabba", for: 5, Self.stage { DistinctStage() }) == "a-b-a-")
  }

  @Test
  func `a filter drops values, and later values pass through the steps after an operator`() {
    let upper = Transformer<String, String> { $0.uppercased() }
    let output = draw(
      "abcx", for: 8, .filter { $0 != "x" }, Self.stage { SampleStage(3) }, .transformer(upper))
    #expect(output == "---C-----")
  }

  @Test
  func `a stopped pipeline cancels its calls and emits nothing`() {
    for make: () -> any BindStage<String> in [
      { DebounceStage(3) }, { SampleStage(3) }, { ThrottleStage(3) }, { Self.delay(3) },
    ] {
      let pipeline = BindPipeline<String>([.stage(make)], clock) { _ in }
      pipeline.start()
      pipeline.pass("a")
      pipeline.pass("b")
      var emitted = 0
      pipeline.onOutput = { _ in emitted += 1 }
      pipeline.stop()
      time.run()
      #expect(emitted == 0)
      #expect(time.waiting == 0)
    }
  }

  @Test
  func `a waiting value after a durable operator waits again after a restore`() {
    let state: [[String?]] = [["a"], ["b"], ["c", "d"]]
    let steps = [
      Self.stage { SampleStage(2) }, Self.stage { DistinctStage() },
      Self.stage { DebounceStage(3) },
    ]
    #expect(draw("", restoring: state, for: 6, steps[0], steps[1], steps[2]) == "---c---")
    #expect(
      draw("b", restoring: state, for: 6, steps[0], steps[1], steps[2]) == "---c---",
      "'b' was the last value of distinct")
    #expect(draw("", restoring: [["a"]], for: 6, steps[0], steps[1], steps[2]) == "-------")
  }

  @Test
  func `an error drops the value and is reported`() {
    let pipeline = BindPipeline<String>(
      [.transformer(Transformer { if $0 == "x" { throw Broken() } else { $0 } })], clock
    ) { if $0 == "long" { throw Broken() } }
    var (emitted, faults) = ([String](), 0)
    pipeline.onOutput = { emitted.append($0) }
    pipeline.onFault = { _ in faults += 1 }
    pipeline.start()
    for value in ["a", "x", "long", "b"] { pipeline.pass(value) }
    #expect(emitted == ["a", "b"])
    #expect(faults == 2)
    pipeline.stop()
  }
}
