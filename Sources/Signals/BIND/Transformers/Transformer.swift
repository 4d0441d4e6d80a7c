/// What a value goes through on its way from the left end of a binding to the right one, and back.
///
/// Either direction may be missing.
package struct Transformer<Input, Output> {
  /// From left to right.
  package let forward: TransformerStep<Input, Output>?
  /// From right to left.
  package let reverse: TransformerStep<Output, Input>?

  package init(
    forward: TransformerStep<Input, Output>?, reverse: TransformerStep<Output, Input>?
  ) {
    self.forward = forward
    self.reverse = reverse
  }

  /// A transformer with one direction.
  package init(_ forward: @escaping (Input) throws -> Output) {
    self.init(forward: .now(forward), reverse: nil)
  }

  /// A transformer that can be reversed.
  package init(
    _ forward: @escaping (Input) throws -> Output, reverse: @escaping (Output) throws -> Input
  ) {
    self.init(forward: .now(forward), reverse: .now(reverse))
  }

  /// A transformer whose answers come later.
  ///
  /// - Parameter forward: Gives the run of an input, which is disposed when a newer input comes.
  package static func later(
    _ forward: @escaping (Input) -> Signal<Output, any Swift.Error>,
    reverse: ((Output) -> Signal<Input, any Swift.Error>)? = nil
  ) -> Transformer {
    Transformer(forward: .later(forward), reverse: reverse.map { .later($0) })
  }

  /// Whether both directions are there and answer at once, as a binding both ways needs it.
  package var goesBothWays: Bool {
    forward?.isSynchronous == true && reverse?.isSynchronous == true
  }

  /// The same with its directions swapped.
  package var swapped: Transformer<Output, Input> {
    Transformer<Output, Input>(forward: reverse, reverse: forward)
  }

  /// This transformer and then another; a direction is there when both have it.
  package func then<Next>(_ next: Transformer<Output, Next>) -> Transformer<Input, Next> {
    Transformer<Input, Next>(
      forward: forward.flatMap { first in next.forward.map { first.then($0) } },
      reverse: next.reverse.flatMap { first in reverse.map { first.then($0) } })
  }
}

extension Transformer where Input == Output {
  /// Leaves each value as it is.
  package static var identity: Transformer {
    Transformer({ $0 }, reverse: { $0 })
  }

  /// Transformers one after the other; a direction is there when all have it.
  ///
  /// - Parameter check: Throws when a value that one of them has made must not go on.
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
