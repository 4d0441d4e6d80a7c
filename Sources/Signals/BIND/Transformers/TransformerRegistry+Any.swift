/// The error for a value of the wrong type.
public struct BindTypeError: Error, Equatable, CustomStringConvertible {
  /// The type of the value.
  public let found: String
  /// The required type.
  public let expected: String

  init(_ value: Any, expected: Any.Type) {
    found = "\(type(of: value))"
    self.expected = "\(expected)"
  }

  public var description: String { "a value of type \(found) is no \(expected)" }
}

/// Returns the value cast to a type, which can be optional.
func cast<Value>(_ value: Any, to type: Value.Type) throws(BindTypeError) -> Value {
  guard let cast = value as? Value else { throw BindTypeError(value, expected: type) }
  return cast
}

extension TransformerStep {
  /// The same step for values of dynamic type.
  public var erased: TransformerStep<Any, Any> {
    switch self {
    case .now(let step): .now { try step(cast($0, to: Input.self)) }
    case .later(let step):
      .later { value in
        do {
          return step(try cast(value, to: Input.self)).map { $0 as Any }
        } catch {
          return .failed(error)
        }
      }
    }
  }
}

extension Transformer {
  /// The same transformer for values of dynamic type.
  public var erased: Transformer<Any, Any> {
    Transformer<Any, Any>(forward: forward?.erased, reverse: reverse?.erased)
  }
}

extension TransformerRegistry where Value == Any {
  /// Registers a closure.
  public mutating func register<Input, Output>(
    _ name: String, _ forward: @escaping (Input) throws -> Output
  ) {
    register(name, Transformer(forward).erased)
  }

  /// Registers a closure and its reverse.
  public mutating func register<Input, Output>(
    _ name: String, _ forward: @escaping (Input) throws -> Output,
    reverse: @escaping (Output) throws -> Input
  ) {
    register(name, Transformer(forward, reverse: reverse).erased)
  }

  /// Registers a transformer type under a name, by default its own.
  public mutating func register<Type: ValueTransformer>(_ type: Type.Type, as name: String? = nil)
  {
    register(name ?? "\(type)", Transformer(Type()).erased)
  }

  /// Registers a transformer type under a name, by default its own.
  public mutating func register<Type: ReversibleValueTransformer>(
    _ type: Type.Type, as name: String? = nil
  ) {
    register(name ?? "\(type)", Transformer(Type()).erased)
  }

  /// Registers a transformer type under a name, by default its own.
  public mutating func register<Type: AsyncValueTransformer>(
    _ type: Type.Type, as name: String? = nil
  ) {
    register(name ?? "\(type)", Transformer(Type()).erased)
  }
}
