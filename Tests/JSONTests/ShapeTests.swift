import JSON
import Testing

struct ShapeTests {
  enum Color: String, Codable { case red }

  struct Inner: Codable {
    var flag: Bool
  }

  struct Everything: Codable {
    var name: String
    var by: Int?
    var ratio: Double
    var raw: JSONText
    var exact: JSONNumber?
    var inner: Inner
    var list: [Inner]
    var map: [String: [UInt8]]
    var maybe: Bool?
    var small: UInt16
  }

  @Test
  func `the shape of a type lists its members in the order of decoding`() {
    let inner = Shape.object([.member("flag", .bool)])
    #expect(
      Shape(of: Everything.self)
        == .object([
          .member("name", .string), .member("by", .integer, isOptional: true),
          .member("ratio", .number), .member("raw", .any),
          .member("exact", .number, isOptional: true), .member("inner", inner),
          .member("list", .array(inner)), .member("map", .map(.array(.integer))),
          .member("maybe", .bool, isOptional: true), .member("small", .integer),
        ]))
  }

  @Test
  func `scalars, arrays and enums have shapes`() {
    #expect(Shape(of: String.self) == .string)
    #expect(Shape(of: [Int].self) == .array(.integer))
    #expect(Shape(of: Color.self) == .string)
    #expect(Shape(of: [String: Double].self) == .map(.number))
    #expect(Shape(of: JSONText.self) == .any)
  }

  @Test
  func `a shape is exported as a JSON Schema`() {
    struct Parameters: Codable {
      var name: String
      var by: Int?
    }
    #expect(
      Shape(of: Parameters.self).schema.text.text
        == #"{"type":"object","properties":{"name":{"type":"string"},"by":{"type":"integer"}},"#
        + #""required":["name"],"additionalProperties":false}"#)
    #expect(
      Shape(of: Parameters.self).schema(isOpen: true).text.text
        == #"{"type":"object","properties":{"name":{"type":"string"},"by":{"type":"integer"}},"#
        + #""required":["name"]}"#)
  }

  @Test
  func `a type that accepts several types declares its shape`() {
    struct Key: Shaped {
      static var shape: Shape { .either([.string, .integer]) }
      init(from decoder: any Decoder) throws {
        _ = try decoder.singleValueContainer().decode(String.self)
      }
    }
    struct Parameters: Decodable {
      var key: Key
      var other: Key?
      var all: [Key]
    }
    let shape = Shape(of: Parameters.self)
    #expect(
      shape
        == .object([
          .member("key", Key.shape), .member("other", Key.shape, isOptional: true),
          .member("all", .array(Key.shape)),
        ]))
    #expect(Key.shape.name == "string or integer")
    #expect(Key.shape.schema.text.text == #"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#)
  }
}

extension Shape.Member {
  fileprivate static func member(
    _ name: String, _ shape: Shape, isOptional: Bool = false
  ) -> Shape.Member {
    Shape.Member(name: name, shape: shape, isOptional: isOptional)
  }
}
