/// The transformers of an expression language, by name.
///
/// - Note: All of them take and return `Value`: JSON values on the wire, `Any` between objects.
public struct TransformerRegistry<Value> {
  /// The type of a transformer argument.
  public enum Parameter: String, Sendable {
    case integer
    case number
    case string
    /// Any JSON value except arrays and objects.
    case value

    fileprivate func accepts(_ argument: BindArgument) -> Bool {
      switch self {
      case .integer: argument.integer != nil
      case .number: argument.number != nil
      case .string: argument.string != nil
      case .value: true
      }
    }
  }

  /// A registered transformer.
  public struct Entry {
    /// The name.
    public let name: String
    /// The required arguments, in order.
    public let parameters: [Parameter]
    /// Whether it has a reverse direction.
    public let isReversible: Bool
    fileprivate let make: ([BindArgument]) -> Transformer<Value, Value>
  }

  private var entries: [String: Entry] = [:]
  private let check: (Value) throws -> Void

  /// - Parameter check: Throws to reject a value that a transformer returned.
  public init(check: @escaping (Value) throws -> Void = { _ in }) {
    self.check = check
  }

  /// All entries, sorted by name.
  public var all: [Entry] { entries.values.sorted { $0.name < $1.name } }

  /// Registers a transformer.
  ///
  /// It replaces one with the same name.
  public mutating func register(_ name: String, _ transformer: Transformer<Value, Value>) {
    let isReversible = transformer.reverse != nil
    entries[name] = Entry(name: name, parameters: [], isReversible: isReversible) { _ in
      transformer
    }
  }

  /// Registers a transformer with arguments.
  ///
  /// It replaces one with the same name.
  ///
  /// - Parameter isReversible: Whether transformers from `make` are reversible; shown in ``all``.
  /// - Parameter make: Called with one argument of the right type for each parameter.
  public mutating func register(
    _ name: String, _ parameters: [Parameter], isReversible: Bool,
    make: @escaping ([BindArgument]) -> Transformer<Value, Value>
  ) {
    entries[name] = Entry(
      name: name, parameters: parameters, isReversible: isReversible, make: make)
  }

  /// Returns the chain of all transformers in an expression, from left to right.
  ///
  /// - Throws: ``BindFault`` for an unknown transformer, a wrong argument or a missing direction.
  public func transformer(
    for expression: BindExpression
  ) throws(BindFault) -> Transformer<Value, Value> {
    var all: [Transformer<Value, Value>] = []
    for call in expression.transformers {
      let one = try transformer(for: call)
      try check(one, of: call, for: expression.operator)
      all.append(one)
    }
    return .chain(all, check: check)
  }

  private func transformer(
    for call: TransformerCall
  ) throws(BindFault) -> Transformer<Value, Value> {
    guard let entry = entries[call.name] else {
      throw BindFault(
        .unknownTransformer, "unknown transformer '\(call.name)'", at: call.column,
        found: call.name, expected: entries.keys.sorted())
    }
    guard call.arguments.count == entry.parameters.count else {
      throw BindFault(
        .argument, "'\(call.name)' takes \(counted(entry.parameters)), not \(call.arguments.count)",
        at: call.column, found: "\(call)", expected: entry.parameters.map(\.rawValue))
    }
    for (argument, parameter) in zip(call.arguments, entry.parameters)
    where !parameter.accepts(argument) {
      throw BindFault(
        .argument, "expected \(parameter.rawValue), found \(argument)", at: argument.column,
        found: "\(argument)", expected: [parameter.rawValue])
    }
    let transformer = entry.make(call.arguments)
    return call.isSwapped ? transformer.swapped : transformer
  }

  private func counted(_ parameters: [Parameter]) -> String {
    switch parameters.count {
    case 0: "no argument"
    case 1: "1 argument"
    case let count: "\(count) arguments"
    }
  }

  private func check(
    _ transformer: Transformer<Value, Value>, of call: TransformerCall, for sign: BindOperator
  ) throws(BindFault) {
    let missing: String? =
      if sign.goesRight, transformer.forward == nil {
        "'\(call)' cannot go from left to right"
      } else if sign.goesLeft, transformer.reverse == nil {
        "'\(call)' cannot go from right to left"
      } else if sign.goesBothWays, !transformer.goesBothWays {
        "'\(call)' answers later and cannot go both ways"
      } else {
        nil
      }
    guard let missing else { return }
    throw BindFault(.notBindable, missing, at: call.column, found: "\(call)")
  }
}

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

  /// The error message with both types.
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
  public mutating func register<Type: ValueTransformer>(_ type: Type.Type, as name: String? = nil) {
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
