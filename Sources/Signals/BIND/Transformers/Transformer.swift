/// A conversion of values between the left and the right end of a binding.
///
/// Either direction can be missing.
public struct Transformer<Input, Output> {
  /// The conversion from left to right.
  public let forward: TransformerStep<Input, Output>?
  /// The conversion from right to left.
  public let reverse: TransformerStep<Output, Input>?

  public init(
    forward: TransformerStep<Input, Output>?, reverse: TransformerStep<Output, Input>?
  ) {
    self.forward = forward
    self.reverse = reverse
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
