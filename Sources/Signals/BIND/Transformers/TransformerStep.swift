/// One direction of a transformer.
public enum TransformerStep<Input, Output> {
  /// A synchronous step.
  case now((Input) throws -> Output)
  /// An asynchronous step.
  ///
  /// A newer input disposes the signal.
  case later((Input) -> Signal<Output, any Swift.Error>)

  /// Whether the step is synchronous.
  public var isSynchronous: Bool {
    if case .now = self { true } else { false }
  }

  /// Returns this step followed by another.
  func then<Next>(_ next: TransformerStep<Output, Next>) -> TransformerStep<Input, Next> {
    switch (self, next) {
    case (.now(let first), .now(let second)): .now { try second(first($0)) }
    case (.now(let first), .later(let second)):
      .later { input in
        do { return second(try first(input)) } catch { return .failed(error) }
      }
    case (.later(let first), .now(let second)): .later { first($0).map { try second($0) } }
    case (.later(let first), .later(let second)):
      .later { first($0).flatMapLatest { second($0) } }
    }
  }
}

extension TransformerStep where Input == Output {
  /// Returns a chain of steps.
  ///
  /// If all are synchronous, they run in a loop, so a long chain uses no more stack than a short
  /// one.
  static func chain(
    _ steps: [TransformerStep], check: @escaping (Output) throws -> Void
  ) -> TransformerStep {
    let prompt = steps.compactMap { step -> ((Input) throws -> Output)? in
      if case .now(let run) = step { run } else { nil }
    }
    if prompt.count == steps.count {
      return .now { input in
        var value = input
        for run in prompt {
          value = try run(value)
          try check(value)
        }
        return value
      }
    }
    let checked = TransformerStep.now { value in
      try check(value)
      return value
    }
    return steps.reduce(.now { $0 }) { $0.then($1).then(checked) }
  }
}
