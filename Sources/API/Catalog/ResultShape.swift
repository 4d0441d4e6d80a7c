package import JSON

/// The type of a method's result.
package struct ResultShape {
  /// The type of the member `value`; `nil` if there is none or the result has other members.
  package let value: Shape?

  /// The type of the whole result.
  package let whole: Shape

  private init(_ whole: Shape, value: Shape? = nil) {
    (self.whole, self.value) = (whole, value)
  }

  /// Returns a result with named members.
  package static func members(_ members: Shape.Member...) -> ResultShape {
    ResultShape(.object(members))
  }

  /// Returns a result with named members.
  static func object(_ members: [Shape.Member]) -> ResultShape { ResultShape(.object(members)) }

  /// Returns a result that has one of several forms.
  static func either(_ shapes: [Shape]) -> ResultShape { ResultShape(.either(shapes)) }

  /// Returns the result of a query whose only member is `value`.
  package static func value<Value: Decodable>(_ type: Value.Type) -> ResultShape {
    .value(Shape(of: type))
  }

  /// Returns the result of a query whose only member is `value`.
  static func value(_ shape: Shape) -> ResultShape {
    ResultShape(.object([.init("value", shape)]), value: shape)
  }

  /// Returns the result of a command.
  ///
  /// `value` is omitted if it does not fit into a line, and positions if nothing was recorded.
  package static func command<Value: Decodable>(_ type: Value.Type) -> ResultShape {
    .command(type == Nothing.self ? nil : Shape(of: type))
  }

  /// Returns the result of a command; `nil` is the type of no value.
  static func command(_ value: Shape?) -> ResultShape {
    guard let value else { return ResultShape(.object(Self.recorded)) }
    return ResultShape(.object([.init("value", value, isOptional: true)] + recorded), value: value)
  }

  /// The members that describe the recorded events.
  static let recorded: [Shape.Member] = [
    .init("seq", .natural, isOptional: true), .init("version", .natural, isOptional: true),
    .init("lease", .string, isOptional: true), .init("replayed", .bool, isOptional: true),
    .init("effects", .map(.any), isOptional: true),
  ]
}

extension Shape.Member {
  package init(_ name: String, _ shape: Shape, isOptional: Bool = false) {
    self.init(name: name, shape: shape, isOptional: isOptional)
  }

  /// Returns a member that may be omitted.
  package static func optional(_ name: String, _ shape: Shape) -> Self {
    Self(name, shape, isOptional: true)
  }
}

extension Shape {
  /// The type of the handle of a subscription, view or binding.
  package static var handle: Shape { .either([.natural, .string]) }

  /// The type of an error within a result.
  static var error: Shape {
    .object([
      .init("code", .integer), .init("message", .string),
      .init("data", .map(.any)),
    ])
  }

  /// Returns the forms of a source's result: some members followed by its value, or by `gone`.
  static func showing(_ head: [Member], _ rest: [Member] = []) -> [Shape] {
    [
      .object(head + [.init("value", .any)] + rest),
      .object(head + [.init("gone", .bool)] + rest),
    ]
  }

  /// Returns the form of a loaded source's result: some members followed by its loading state.
  static func loading(_ head: [Member]) -> Shape {
    .object(
      head + [
        .init("state", .words(["loading", "loaded", "reloading", "failed"])),
        .optional("value", .any), .optional("error", .error),
      ])
  }
}
