import JSON
import TestSupport
import Testing

struct JSONPointerSetTests {
  private func someValue(_ depth: Int, _ random: inout SeededRandom) -> String {
    switch depth == 0 ? 0 : Int.random(in: 0...2, using: &random) {
    case 1:
      let members = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        #""\#(["a", "b", "0", "1", "\\u0061"].randomElement(using: &random) ?? "a")": "#
          + someValue(depth - 1, &random)
      }
      return "{\(members.joined(separator: ", "))}"
    case 2:
      let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        someValue(depth - 1, &random)
      }
      return "[\(elements.joined(separator: " ,"))]"
    default: return ["1", "\"x\"", "null", "true", "{}", "[]"].randomElement(using: &random) ?? "1"
    }
  }

  private func somePointer(_ random: inout SeededRandom) -> JSONPointer? {
    let tokens = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      "/" + (["a", "b", "0", "1"].randomElement(using: &random) ?? "a")
    }
    return JSONPointer(tokens.joined())
  }

  @Test(arguments: 1...30)
  func `one pass finds the same values as each pointer separately`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let set = JSONPointerSet()
    var pointers: [JSONPointer] = []
    for _ in 0..<30 {
      let pointer = try #require(somePointer(&random))
      pointers.append(pointer)
      set.insert(pointer)
    }
    for _ in 0..<10 {
      set.remove(pointers.removeLast())
    }
    #expect(set.count == Set(pointers).count)
    for _ in 0..<100 {
      let text = someValue(4, &random)
      let value = try JSONText(parsing: text)
      let places = set.places(in: value)
      for pointer in pointers {
        #expect(
          places[pointer].map { value[$0] } == pointer.find(in: value), "\(pointer) in \(text)")
      }
      #expect(places.keys.allSatisfy(pointers.contains))
    }
    for pointer in pointers { set.remove(pointer) }
    #expect(set.count == 0)
    #expect(set.places(in: try JSONText(parsing: #"{"a":1}"#)).isEmpty)
  }

  @Test
  func `names that are canonically equivalent are different members`() throws {
    let (one, two) = ("\u{E9}", "e\u{301}")
    let pointers = [try #require(JSONPointer("/" + one)), try #require(JSONPointer("/" + two))]
    let set = JSONPointerSet()
    for pointer in pointers { set.insert(pointer) }
    #expect(set.count == 2 && Set(pointers).count == 2)
    let value = try JSONText(parsing: #"{"\#(one)":1,"\#(two)":2}"#)
    let places = set.places(in: value)
    #expect(pointers.map { places[$0].map { value[$0].text } } == ["1", "2"])
    set.remove(pointers[0])
    #expect(set.places(in: value).keys.map(\.text).map { $0.hasSameBytes(as: "/" + two) } == [true])
    set.remove(pointers[1])
    #expect(set.count == 0)
  }
}
