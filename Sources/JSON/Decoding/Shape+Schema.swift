extension Shape {
  /// The shape as JSON Schema, draft 2020-12, in which objects allow no unknown members.
  public var schema: JSONValue { schema(isOpen: false) }

  /// Returns the shape as JSON Schema, draft 2020-12.
  ///
  /// - Parameter isOpen: Whether objects allow unknown members.
  public func schema(isOpen: Bool) -> JSONValue {
    switch self {
    case .any: return .bool(true)
    case .bool, .integer, .number, .string: return .object(["type": .string(name)])
    case .natural:
      return .object([
        "type": .string("integer"), "minimum": .number(JSONNumber(0)),
        "maximum": .number(JSONNumber(Int64.max)),
      ])
    case .words(let words): return .object(["enum": .array(words.map { .string($0) })])
    case .array(let element):
      return .object(["type": .string("array"), "items": element.schema(isOpen: isOpen)])
    case .map(let element):
      return .object([
        "type": .string("object"), "additionalProperties": element.schema(isOpen: isOpen),
      ])
    case .either(let shapes):
      return .object(["anyOf": .array(shapes.map { $0.schema(isOpen: isOpen) })])
    case .object(let members):
      var properties = JSONObject()
      for member in members { properties[member.name] = member.shape.schema(isOpen: isOpen) }
      let required = members.filter { !$0.isOptional }.map { JSONValue.string($0.name) }
      var schema: JSONObject = [
        "type": .string("object"), "properties": .object(properties),
        "required": .array(required),
      ]
      if !isOpen { schema["additionalProperties"] = .bool(false) }
      return .object(schema)
    }
  }
}
