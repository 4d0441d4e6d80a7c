/// A protocol that only `Result` adopts, for constraints in extensions.
public protocol _ResultProtocol<Value, Error> {
  associatedtype Value
  associatedtype Error: Swift.Error

  /// This value as a result.
  var _unbox: Result<Value, Error> { get }
}

extension Result: _ResultProtocol {
  public typealias Value = Success
  public typealias Error = Failure

  @inlinable
  public var _unbox: Result { self }
}

extension SignalProtocol {
  /// Emits each element as a success, and a failure as the last element.
  @inlinable
  public func mapToResult() -> Signal<Result<Element, Error>, Never> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(.success(element))
        case .failed(let error): observer.receive(lastElement: .failure(error))
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Element: _ResultProtocol {
  /// Emits the results with `transform` applied to each success.
  @inlinable
  public func mapValue<Output>(
    _ transform: @escaping (Element.Value) -> Output
  ) -> Signal<Result<Output, Element.Error>, Error> {
    map { $0._unbox.map(transform) }
  }
}

extension SignalProtocol where Element: _ResultProtocol, Error == Element.Error {
  /// Emits the successes; fails with the first failure.
  @inlinable
  public func getValues() -> Signal<Element.Value, Error> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let result):
          switch result._unbox {
          case .success(let element): observer.receive(element)
          case .failure(let error): observer.fail(error)
          }
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Element: _ResultProtocol, Error == Never {
  /// Emits the successes; fails with the first failure.
  @inlinable
  @_disfavoredOverload
  public func getValues() -> Signal<Element.Value, Element.Error> {
    (castError() as Signal<Element, Element.Error>).getValues()
  }
}
