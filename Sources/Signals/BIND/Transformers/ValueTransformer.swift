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
