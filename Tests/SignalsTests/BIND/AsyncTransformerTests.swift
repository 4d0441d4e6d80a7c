import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct AsyncTransformerTests {
  let answers = AsyncAnswers()
  let rpm = Property(10000.0)
  let speed = Property(0.0)

  @Test
  func `the value at binding time and later ones are assigned when their answer is there`() throws {
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
  func `the newest input wins, whichever answer comes first`() throws {
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
  func `an answer counts no more when the newest input has failed`() throws {
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
  func `what goes left is answered later too`() throws {
    try speed.bind(.rightToLeft, rpm, through: answers.transformer.swapped)
    answers.answer(0)
    #expect(speed.value == 100)
    answers.forget()
  }

  @Test
  func `no answer is assigned after the end of the binding`() throws {
    let binding = try rpm.bind(.leftToRight, speed, through: answers.transformer)
    binding.dispose()
    #expect(answers.cancelled == [10000])
    answers.answer(0)
    #expect(speed.value == 0)
    answers.forget()
  }

  @Test
  func `25: one that fails assigns nothing, and the next one does`() throws {
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
  func `several that answer later are composed, and a new input ends them all`() throws {
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
  func `it cannot go both ways`(sign: BindOperator) {
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
  func `a type that answers later is found by its name`() throws {
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
