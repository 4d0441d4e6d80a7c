import Signals
import SignalsTestSupport

// The objects of the original BIND tests.

final class Car {
  let speed = Property(0.0)
  let make = Property<String?>(nil)
  let engine = Property(Engine())
}

final class Engine {
  let rpm = Property(0.0)
}

final class ParkingTicket {
  let carMake = Property<String?>(nil)
}

struct RPMToSpeedTransformer: ReversibleValueTransformer {
  func transform(_ rpm: Double) -> Double { rpm / 100 }
  func reverse(_ speed: Double) -> Double { speed * 100 }
}

/// A transformer whose results arrive when the test requests it.
final class AsyncAnswers {
  private(set) var waiting: [(value: Double, answer: (Result<Double, any Error>) -> Void)] = []
  private(set) var cancelled: [Double] = []

  var transformer: Transformer<Double, Double> {
    .later { [self] rpm in
      Signal { [self] observer in
        waiting.append(
          (
            rpm,
            { result in
              switch result {
              case .success(let speed): observer.receive(lastElement: speed)
              case .failure(let error): observer.fail(error)
              }
            }
          ))
        return BlockDisposable { [self] in cancelled.append(rpm) }
      }
    }
  }

  /// Delivers one pending result.
  func answer(_ i: Int) {
    waiting[i].answer(.success(waiting[i].value / 100))
  }

  /// Discards the pending results.
  func forget() {
    waiting = []
  }
}

/// The transformers of the tests.
var transformers: TransformerRegistry<Any> {
  var registry = TransformerRegistry<Any>()
  registry.register(RPMToSpeedTransformer.self)
  registry.register("NegateBoolean", { (value: Bool) in !value }, reverse: { !$0 })
  registry.register("uppercase") { (text: String) in text.uppercased() }
  registry.register("text", { (number: Double) in "\(number)" }, reverse: numberOfText)
  registry.register("round", [.integer], isReversible: true) { arguments in
    let digits = arguments[0].integer ?? 0
    let unit = (0..<digits).reduce(1.0) { unit, _ in unit * 10 }
    return Transformer({ (x: Double) in (x * unit).rounded() / unit }, reverse: { $0 }).erased
  }
  registry.register("scale", [.number], isReversible: true) { arguments in
    let factor = arguments[0].number ?? 1
    return Transformer({ (x: Double) in x * factor }, reverse: { $0 / factor }).erased
  }
  registry.register("format", [.string], isReversible: false) { arguments in
    let format = arguments[0].string ?? ""
    return Transformer { (value: Any) in format.replacing("%", with: "\(value)") }.erased
  }
  registry.register("default", [.value], isReversible: false) { arguments in
    let replacement = arguments[0].number ?? 0
    return Transformer { (value: Double?) in value ?? replacement }.erased
  }
  return registry
}

private func numberOfText(_ text: String) throws -> Double {
  guard let number = Double(text) else { throw Broken() }
  return number
}

// The views of the original examples.

final class Label: BindShorthand {
  static let bindShorthand = "text"
  let text = Property("")
}

final class TextField: BindShorthand {
  static let bindShorthand = "text"
  let text = Property("")
}

final class Button: BindShorthand {
  static let bindShorthand = "onTouchUpInside"
  let onTouchUpInside = PassthroughSubject<Void, Never>()
}
