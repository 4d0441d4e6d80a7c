/// A transformer as a type.
package protocol ValueTransformer<Input, Output> {
  associatedtype Input
  associatedtype Output

  init()

  /// The value for the right end.
  func transform(_ value: Input) throws -> Output
}

/// A transformer, as a type, that can be reversed.
package protocol ReversibleValueTransformer<Input, Output>: ValueTransformer {
  /// The value for the left end.
  func reverse(_ value: Output) throws -> Input
}

/// A transformer, as a type, whose answers come later.
package protocol AsyncValueTransformer<Input, Output> {
  associatedtype Input
  associatedtype Output

  init()

  /// Starts to make the value for the right end, and tells it.
  ///
  /// - Returns: What ends the work, when a newer value has come.
  func transform(
    _ value: Input, answer: @escaping (Result<Output, any Swift.Error>) -> Void
  ) -> any Disposable
}

extension Transformer {
  /// A transformer by its type.
  package init(_ transformer: some ValueTransformer<Input, Output>) {
    self.init(transformer.transform)
  }

  /// A transformer by its type.
  package init(_ transformer: some ReversibleValueTransformer<Input, Output>) {
    self.init(transformer.transform, reverse: transformer.reverse)
  }

  /// A transformer by its type.
  package init(_ transformer: some AsyncValueTransformer<Input, Output>) {
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
