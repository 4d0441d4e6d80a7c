/// A conversion of values between the left and the right end of a binding.
///
/// Either direction can be missing.
public struct Transformer<Input, Output> {
  /// The conversion from left to right.
  public let forward: TransformerStep<Input, Output>?
  /// The conversion from right to left.
  public let reverse: TransformerStep<Output, Input>?

  /// The conversion of an array from left to right, element by element; `nil` for any other one.
  package let fold: Fold<Input, Output>?

  /// Creates a transformer from its two directions; `nil` for a missing one.
  public init(
    forward: TransformerStep<Input, Output>?, reverse: TransformerStep<Output, Input>?
  ) {
    self.init(forward: forward, reverse: reverse, fold: nil)
  }

  init(
    forward: TransformerStep<Input, Output>?, reverse: TransformerStep<Output, Input>?,
    fold: Fold<Input, Output>?
  ) {
    (self.forward, self.reverse, self.fold) = (forward, reverse, fold)
  }

  /// Creates a transformer with one direction.
  public init(_ forward: @escaping (Input) throws -> Output) {
    self.init(forward: .now(forward), reverse: nil)
  }

  /// Creates a reversible transformer.
  public init(
    _ forward: @escaping (Input) throws -> Output, reverse: @escaping (Output) throws -> Input
  ) {
    self.init(forward: .now(forward), reverse: .now(reverse))
  }

  /// Creates an asynchronous transformer.
  ///
  /// - Parameter forward: Returns the signal for an input. A newer input disposes it.
  public static func later(
    _ forward: @escaping (Input) -> Signal<Output, any Swift.Error>,
    reverse: ((Output) -> Signal<Input, any Swift.Error>)? = nil
  ) -> Transformer {
    Transformer(forward: .later(forward), reverse: reverse.map { .later($0) })
  }

  /// Whether both directions exist and are synchronous, as a two-way binding requires.
  public var goesBothWays: Bool {
    forward?.isSynchronous == true && reverse?.isSynchronous == true
  }

  /// The transformer with its directions swapped.
  public var swapped: Transformer<Output, Input> {
    Transformer<Output, Input>(forward: reverse, reverse: forward)
  }

  /// Returns this transformer followed by another.
  ///
  /// A direction exists if both have it.
  public func then<Next>(_ next: Transformer<Output, Next>) -> Transformer<Input, Next> {
    Transformer<Input, Next>(
      forward: forward.flatMap { first in next.forward.map { first.then($0) } },
      reverse: next.reverse.flatMap { first in reverse.map { first.then($0) } })
  }
}

extension Transformer where Input == Output {
  /// The transformer that returns each value unchanged.
  public static var identity: Transformer {
    Transformer({ $0 }, reverse: { $0 })
  }

  /// Returns a chain of transformers.
  ///
  /// A direction exists if all have it.
  ///
  /// - Parameter check: Throws to reject a value that one of them returned.
  static func chain(
    _ all: [Transformer], check: @escaping (Output) throws -> Void
  ) -> Transformer {
    let forward = all.compactMap(\.forward)
    let reverse = all.reversed().compactMap(\.reverse)
    return Transformer(
      forward: forward.count == all.count ? .chain(forward, check: check) : nil,
      reverse: reverse.count == all.count ? .chain(reverse, check: check) : nil)
  }
}

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

/// A transformer as a type.
public protocol ValueTransformer<Input, Output> {
  associatedtype Input
  associatedtype Output

  init()

  /// Returns the value for the right end.
  func transform(_ value: Input) throws -> Output
}

/// A reversible transformer as a type.
public protocol ReversibleValueTransformer<Input, Output>: ValueTransformer {
  /// Returns the value for the left end.
  func reverse(_ value: Output) throws -> Input
}

/// An asynchronous transformer as a type.
public protocol AsyncValueTransformer<Input, Output> {
  associatedtype Input
  associatedtype Output

  init()

  /// Starts to compute the value for the right end.
  ///
  /// - Parameter answer: Called with the result.
  /// - Returns: A disposable that cancels the work when a newer value comes.
  func transform(
    _ value: Input, answer: @escaping (Result<Output, any Swift.Error>) -> Void
  ) -> any Disposable
}

extension Transformer {
  /// Creates a transformer from its type.
  public init(_ transformer: some ValueTransformer<Input, Output>) {
    self.init(transformer.transform)
  }

  /// Creates a reversible transformer from its type.
  public init(_ transformer: some ReversibleValueTransformer<Input, Output>) {
    self.init(transformer.transform, reverse: transformer.reverse)
  }

  /// Creates an asynchronous transformer from its type.
  public init(_ transformer: some AsyncValueTransformer<Input, Output>) {
    self = .later { input in
      Signal { observer in
        transformer.transform(input) { result in
          switch result {
          case .success(let output): observer.receive(lastElement: output)
          case .failure(let error): observer.fail(error)
          }
        }
      }
    }
  }
}
