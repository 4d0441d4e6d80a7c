/// One direction of a transformer.
package enum TransformerStep<Input, Output> {
  /// The answer is there at once.
  case now((Input) throws -> Output)
  /// The answer comes later; the run of an input ends when a newer input comes.
  case later((Input) -> Signal<Output, any Swift.Error>)

  /// Whether the answer is there at once.
  package var isSynchronous: Bool {
    if case .now = self { true } else { false }
  }

  /// This step and then another.
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
  /// Steps one after the other.
  ///
  /// Those that answer at once run in a loop, so that a long chain takes no more of the stack than a
  /// short one.
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
