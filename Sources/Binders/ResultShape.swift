internal import JSON

/// The type of a method's result.
struct ResultShape {
  /// The type of the member `value`; `nil` when there is none, or others beside it.
  let value: Shape?

  /// The type of the whole result.
  let whole: Shape

  private init(_ whole: Shape, value: Shape? = nil) {
    (self.whole, self.value) = (whole, value)
  }

  /// A result of named members.
  static func members(_ members: Shape.Member...) -> ResultShape { ResultShape(.object(members)) }

  /// A result of named members.
  static func object(_ members: [Shape.Member]) -> ResultShape { ResultShape(.object(members)) }

  /// A result of one of several forms.
  static func either(_ shapes: [Shape]) -> ResultShape { ResultShape(.either(shapes)) }

  /// What a query returns as `value`.
  static func value<Value: Decodable>(_ type: Value.Type) -> ResultShape {
    let value = Shape(of: type)
    return ResultShape(.object([.init("value", value)]), value: value)
  }

  /// What a command answers that returns a type: `value` is left out when it does not fit into a line,
  /// positions when nothing was recorded.
  static func command<Value: Decodable>(_ type: Value.Type) -> ResultShape {
    guard type != Nothing.self else { return ResultShape(.object(Self.recorded)) }
    let value = Shape(of: type)
    return ResultShape(.object([.init("value", value, isOptional: true)] + recorded), value: value)
  }

  /// What is said of what a command has recorded.
  static let recorded: [Shape.Member] = [
    .init("seq", .natural, isOptional: true), .init("version", .natural, isOptional: true),
    .init("replayed", .bool, isOptional: true),
  ]
}

extension Shape.Member {
  init(_ name: String, _ shape: Shape, isOptional: Bool = false) {
    self.init(name: name, shape: shape, isOptional: isOptional)
  }

  /// The same as a member that may be left out.
  static func optional(_ name: String, _ shape: Shape) -> Self {
    Self(name, shape, isOptional: true)
  }
}

extension Shape {
  /// What names a subscription, a view or a binding.
  static var handle: Shape { .either([.natural, .string]) }

  /// An error as it stands within a result.
  static var error: Shape {
    .object([
      .init("code", .integer), .init("message", .string),
      .init("data", .map(.any)),
    ])
  }

  /// Members, and behind them what a source shows of its kind: a value, or that there is none.
  static func showing(_ head: [Member], _ rest: [Member] = []) -> [Shape] {
    [
      .object(head + [.init("value", .any)] + rest),
      .object(head + [.init("gone", .bool)] + rest),
    ]
  }

  /// Members, and behind them what a loaded source shows.
  static func loading(_ head: [Member]) -> Shape {
    .object(
      head + [
        .init("state", .words(["loading", "loaded", "reloading", "failed"])),
        .optional("value", .any), .optional("error", .error),
      ])
  }
}
