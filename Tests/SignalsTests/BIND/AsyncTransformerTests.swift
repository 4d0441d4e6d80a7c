import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct AsyncTransformerTests {
  let answers = AsyncAnswers()
  let rpm = Property(10000.0)
  let speed = Property(0.0)

  @Test
  func `the current value and later ones are assigned when their results arrive`() throws {
    try rpm.bind(.leftToRight, speed, through: answers.transformer)
    #expect(speed.value == 0)
    answers.answer(0)
    #expect(speed.value == 100)
    rpm.value = 20000
    #expect(speed.value == 100)
    answers.answer(1)
    #expect(speed.value == 200)
    answers.forget()
  }

  @Test
  func `the newest input wins, whichever result arrives first`() throws {
    try rpm.bind(.leftToRight, speed, through: answers.transformer)
    rpm.value = 20000
    rpm.value = 30000
    #expect(answers.cancelled == [10000, 20000])
    answers.answer(2)
    answers.answer(1)
    answers.answer(0)
    #expect(speed.value == 300)
    answers.forget()
  }

  @Test
  func `a result is ignored if a newer input has failed`() throws {
    let check = Transformer<Double, Double> { if $0 < 0 { throw Broken() } else { $0 } }
    let binding = try rpm.bind(.leftToRight, speed, through: check.then(answers.transformer))
    var failures = 0
    binding.failures.observeNext { _ in failures += 1 }.dispose(in: speed.bag)
    rpm.value = -1
    answers.answer(0)
    #expect(speed.value == 0)
    #expect(failures == 1)
    answers.forget()
  }

  @Test
  func `an asynchronous transformer also works from right to left`() throws {
    try speed.bind(.rightToLeft, rpm, through: answers.transformer.swapped)
    answers.answer(0)
    #expect(speed.value == 100)
    answers.forget()
  }

  @Test
  func `no result is assigned after the binding has ended`() throws {
    let binding = try rpm.bind(.leftToRight, speed, through: answers.transformer)
    binding.dispose()
    #expect(answers.cancelled == [10000])
    answers.answer(0)
    #expect(speed.value == 0)
    answers.forget()
  }

  @Test
  func `25: a failed result assigns nothing, and the next result is assigned`() throws {
    let binding = try rpm.bind(.leftToRight, speed, through: answers.transformer)
    var failures: [any Error] = []
    binding.failures.observeNext { failures.append($0) }.dispose(in: speed.bag)
    answers.waiting[0].answer(.failure(Broken()))
    #expect(failures.count == 1)
    rpm.value = 500
    answers.answer(1)
    #expect(speed.value == 5)
    answers.forget()
  }

  @Test
  func `asynchronous transformers compose, and a new input cancels all of them`() throws {
    let second = AsyncAnswers()
    try rpm.bind(.leftToRight, speed, through: answers.transformer.then(second.transformer))
    answers.answer(0)
    second.answer(0)
    #expect(speed.value == 1)
    rpm.value = 20000
    answers.answer(1)
    rpm.value = 30000
    #expect(second.cancelled == [100, 200])
    second.answer(1)
    #expect(speed.value == 1)
    answers.forget()
    second.forget()
  }

  @Test(arguments: [BindOperator.both, .bothLater])
  func `an asynchronous transformer cannot be used in both directions`(sign: BindOperator) {
    let both = Transformer<Double, Double>.later(
      { Signal(just: $0) }, reverse: { Signal(just: $0) })
    #expect(throws: NotBindable.answersLater) { try rpm.bind(sign, speed, through: both) }
    var registry = TransformerRegistry<Any>()
    registry.register("later", both.erased)
    let fault = #expect(throws: BindFault.self) {
      try ObjectBinding("rpm \(sign.rawValue) speed | later", transformers: registry)
    }
    #expect(fault?.kind == .notBindable)
    #expect(fault?.description.hasPrefix("'later' answers later and cannot go both ways") == true)
  }

  @Test
  func `an asynchronous transformer type is found by its name`() throws {
    struct Half: AsyncValueTransformer {
      func transform(
        _ value: Double, answer: @escaping (Result<Double, any Error>) -> Void
      ) -> any Disposable {
        answer(.success(value / 2))
        return NonDisposable.instance
      }
    }
    var registry = TransformerRegistry<Any>()
    registry.register(Half.self)
    let (engine, car) = (Engine(), Car())
    engine.rpm.value = 8
    let binding = try ObjectBinding("rpm ~> speed | Half", transformers: registry)
    try binding.bind(left: engine, right: car)
    #expect(car.speed.value == 4)
    binding.unbind()
  }
}
