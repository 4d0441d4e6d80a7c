/// The transformers and operators of an expression language, by name.
///
/// A transformer converts each value on its own. An operator drops, keeps or delays values, so it
/// passes them only from left to right.
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
    case duration
    /// A duration or a number of values.
    case window
    /// `min`, `max`, `sum` or `avg`.
    case aggregate
    /// `above`, `below`, `between`, `equals` or `differs`.
    case test

    /// The words that are valid; `nil` if the argument is no word.
    private var words: [String]? {
      switch self {
      case .aggregate: ["min", "max", "sum", "avg"]
      case .test: ["above", "below", "between", "equals", "differs"]
      case .integer, .number, .string, .value, .duration, .window: nil
      }
    }

    /// The valid arguments, for a message.
    fileprivate var expected: [String] {
      switch self {
      case .duration: ["duration such as 5s"]
      case .window: ["duration such as 5m", "number of values"]
      default: words ?? [rawValue]
      }
    }

    fileprivate func accepts(_ argument: BindArgument) -> Bool {
      switch self {
      case .integer: argument.integer != nil
      case .number: argument.number != nil
      case .string: argument.string != nil
      case .value: argument.isJSON
      case .duration: argument.seconds != nil
      case .window: argument.seconds != nil || argument.integer != nil
      case .aggregate, .test: argument.word.map { words?.contains($0) == true } ?? false
      }
    }
  }

  /// The parameters of a transformer, in order.
  public struct Parameters: Sendable, ExpressibleByArrayLiteral {
    /// The required ones.
    public let required: [Parameter]
    /// Those that can be left out, after the required ones.
    public let optional: [Parameter]
    /// The one that can follow any number of times; `nil` if there is none.
    public let repeated: Parameter?

    /// Creates parameters from their parts.
    public init(_ required: [Parameter], optional: [Parameter] = [], repeated: Parameter? = nil) {
      (self.required, self.optional, self.repeated) = (required, optional, repeated)
    }

    /// Creates required parameters.
    public init(arrayLiteral elements: Parameter...) { self.init(elements) }

    /// The parameters as text: `window?` can be left out, `value...` can be repeated.
    public var shown: [String] {
      required.map(\.rawValue) + optional.map { $0.rawValue + "?" }
        + (repeated.map { [$0.rawValue + "..."] } ?? [])
    }

    /// Returns the parameter of an argument; `nil` if there is none.
    fileprivate func parameter(at i: Int) -> Parameter? {
      let fixed = required + optional
      return i < fixed.count ? fixed[i] : repeated
    }

    /// The valid number of arguments, for a message.
    fileprivate var counted: String {
      let (least, most) = (required.count, required.count + optional.count)
      func arguments(_ count: Int) -> String {
        switch count {
        case 0: "no argument"
        case 1: "1 argument"
        default: "\(count) arguments"
        }
      }
      if repeated != nil { return "at least " + arguments(least) }
      return least == most ? arguments(least) : "\(least) to " + arguments(most)
    }
  }

  /// A registered transformer or operator.
  public struct Entry {
    /// The name.
    public let name: String
    /// The arguments.
    public let parameters: Parameters
    /// A short description; empty if there is none.
    public let doc: String
    /// Whether it has a reverse direction.
    public let isReversible: Bool
    /// Whether it drops, keeps or delays values.
    public let isOperator: Bool
    fileprivate let make: ([BindArgument]) throws(BindMisuse) -> BindStep<Value>
  }

  private var entries: [String: Entry] = [:]
  private let check: (Value) throws -> Void

  /// Converts the elements of an array, each with its own function.
  public typealias ElementMap =
    (_ array: Value, _ functions: [(Value) throws -> Value]) throws -> Value
  private let mapElements: ElementMap?

  /// - Parameters:
  ///   - check: Throws to reject a value that a transformer returned.
  ///   - mapElements: Converts the elements of an array; without it, the sources of a list have no
  ///     transformers.
  public init(
    check: @escaping (Value) throws -> Void = { _ in }, mapElements: ElementMap? = nil
  ) {
    self.check = check
    self.mapElements = mapElements
  }

  /// All entries, sorted by name.
  public var all: [Entry] { entries.values.sorted { $0.name < $1.name } }

  /// Registers a transformer.
  ///
  /// It replaces one with the same name.
  public mutating func register(
    _ name: String, _ transformer: Transformer<Value, Value>, doc: String = ""
  ) {
    let isReversible = transformer.reverse != nil
    register(name, [], doc, isReversible: isReversible) { _ in transformer }
  }

  /// Registers a transformer with arguments.
  ///
  /// It replaces one with the same name.
  ///
  /// - Parameter isReversible: Whether transformers from `make` are reversible; shown in ``all``.
  /// - Parameter make: Called with an argument of the right type for each parameter.
  public mutating func register(
    _ name: String, _ parameters: Parameters, _ doc: String = "", isReversible: Bool,
    make: @escaping ([BindArgument]) throws(BindMisuse) -> Transformer<Value, Value>
  ) {
    entries[name] = Entry(
      name: name, parameters: parameters, doc: doc, isReversible: isReversible, isOperator: false
    ) { arguments throws(BindMisuse) in .transformer(try make(arguments)) }
  }

  /// Registers an operator, which drops, keeps or delays values.
  ///
  /// It replaces one with the same name.
  ///
  /// - Parameter make: Called with an argument of the right type for each parameter.
  public mutating func register(
    operator name: String, _ parameters: Parameters, _ doc: String,
    make: @escaping ([BindArgument]) throws(BindMisuse) -> BindStep<Value>
  ) {
    entries[name] = Entry(
      name: name, parameters: parameters, doc: doc, isReversible: false, isOperator: true,
      make: make)
  }

  /// Returns the chain of all transformers in an expression, from left to right.
  ///
  /// - Throws: ``BindFault`` for an unknown transformer, a wrong argument, a missing direction or an
  ///   operator.
  public func transformer(
    for expression: BindExpression
  ) throws(BindFault) -> Transformer<Value, Value> {
    var all: [Transformer<Value, Value>] = []
    if let elements = try elementStep(for: expression) { all.append(elements) }
    let steps = try steps(for: expression).suffix(expression.transformers.count)
    for (call, step) in zip(expression.transformers, steps) {
      guard case .transformer(let one) = step else {
        throw BindFault(
          .notBindable, "'\(call.name)' cannot be used here", at: call.column, found: "\(call)")
      }
      all.append(one)
    }
    return chain(all)
  }

  /// Returns a chain of transformers; each result is checked.
  public func chain(_ all: [Transformer<Value, Value>]) -> Transformer<Value, Value> {
    .chain(all, check: check)
  }

  private func unknown(_ call: TransformerCall) -> BindFault {
    BindFault(
      .unknownTransformer, "unknown transformer '\(call.name)'", at: call.column,
      found: call.name, expected: entries.keys.sorted())
  }

  /// Returns the fault of an expression, or that of its transformer if no such one is registered.
  public func fault(_ fault: BindFault) -> BindFault {
    guard let call = fault.call, entries[call.name] == nil else { return fault }
    return unknown(call)
  }

  /// Returns the transformers and operators of an expression, from left to right.
  ///
  /// - Throws: ``BindFault`` for an unknown name, a wrong argument or a missing direction.
  public func steps(for expression: BindExpression) throws(BindFault) -> [BindStep<Value>] {
    try steps(for: expression) { transformer, _ in transformer }
  }

  /// - Parameter replace: Returns the transformer to use in place of one that converts the value of
  ///   a source; the number of the source is its place in the list.
  package func steps(
    for expression: BindExpression,
    replacing replace: (Transformer<Value, Value>, _ source: Int) -> Transformer<Value, Value>
  ) throws(BindFault) -> [BindStep<Value>] {
    var steps: [BindStep<Value>] = []
    if let elements = try elementStep(for: expression, replacing: replace) {
      steps.append(.transformer(elements))
    }
    for call in expression.transformers {
      var step = try step(for: call)
      switch step {
      case .transformer(let transformer):
        try check(transformer, of: call, for: expression.operator)
        if expression.isOfOnePath { step = .transformer(replace(transformer, 0)) }
      case .filter, .stage:
        if !expression.operator.isRightOnly {
          throw .notRight("'\(call.name)'", expression.operator, at: call.column)
        }
        if call.isSwapped {
          throw BindFault(
            .notBindable, "'\(call.name)' has no reverse", at: call.column, found: "\(call)")
        }
      }
      steps.append(step)
    }
    return steps
  }

  /// Returns the transformer of an array of sources that have transformers of their own; `nil` if none
  /// has.
  private func elementStep(
    for expression: BindExpression,
    replacing replace: (Transformer<Value, Value>, _ source: Int) -> Transformer<Value, Value> = {
      transformer, _ in transformer
    }
  ) throws(BindFault) -> Transformer<Value, Value>? {
    guard case .list(let paths) = expression.source,
      let first = paths.lazy.compactMap(\.transformers.first).first
    else { return nil }
    guard let mapElements else {
      throw BindFault(
        .notBindable, "'\(first)' cannot be used in a list", at: first.column, found: "\(first)")
    }
    var functions: [(Value) throws -> Value] = []
    for (source, path) in paths.enumerated() {
      var chain: [(Value) throws -> Value] = []
      for call in path.transformers {
        guard case .transformer(let transformer) = try step(for: call),
          case .now(let function)? = replace(transformer, source).forward
        else {
          throw BindFault(
            .notBindable, "'\(call)' keeps values or answers later: use it behind the list",
            at: call.column, found: "\(call)")
        }
        chain.append(function)
      }
      let (all, check) = (chain, check)
      functions.append { value in
        try all.reduce(value) { value, function in
          let result = try function(value)
          try check(result)
          return result
        }
      }
    }
    let all = functions
    return Transformer { try mapElements($0, all) }
  }

  private func step(for call: TransformerCall) throws(BindFault) -> BindStep<Value> {
    guard let entry = entries[call.name] else { throw unknown(call) }
    let parameters = entry.parameters
    guard call.arguments.count >= parameters.required.count,
      call.arguments.isEmpty || parameters.parameter(at: call.arguments.count - 1) != nil
    else {
      throw BindFault(
        .argument, "'\(call.name)' takes \(parameters.counted), not \(call.arguments.count)",
        at: call.column, found: "\(call)", expected: parameters.shown)
    }
    for (i, argument) in call.arguments.enumerated() {
      guard let parameter = parameters.parameter(at: i), !parameter.accepts(argument) else {
        continue
      }
      let expected = parameter.expected
      throw BindFault(
        .argument, "expected \(expected.joined(separator: " or ")), found \(argument)",
        at: argument.column, found: "\(argument)", expected: expected)
    }
    let step: BindStep<Value>
    do throws(BindMisuse) {
      step = try entry.make(call.arguments)
    } catch {
      let argument = call.arguments.indices ~= error.index ? call.arguments[error.index] : nil
      throw BindFault(
        .argument, "'\(call.name)' takes \(error.expected)", at: argument?.column ?? call.column,
        found: argument?.description ?? "\(call)", expected: [error.expected])
    }
    guard call.isSwapped, case .transformer(let transformer) = step else { return step }
    return .transformer(transformer.swapped)
  }

  private func check(
    _ transformer: Transformer<Value, Value>, of call: TransformerCall, for sign: BindOperator
  ) throws(BindFault) {
    let missing: String? =
      if sign.goesRight, transformer.forward == nil {
        "'\(call)' cannot go from left to right"
      } else if sign.goesLeft, transformer.reverse == nil {
        sign.goesRight
          ? "'\(call)' is not reversible and cannot be used with \(sign.rawValue)"
          : "'\(call)' is not reversible; use ~> instead of \(sign.rawValue)"
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
