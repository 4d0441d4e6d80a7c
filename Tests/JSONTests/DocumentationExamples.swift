import JSON
import Testing

struct JSONExampleTests {
  @Test
  func `the example of JSONDecoder works`() throws {
    let decoder = JSONDecoder()
    let names: [String] = try decoder.decode(from: try JSONText(parsing: #"["a","b"]"#))
    #expect(names == ["a", "b"])
  }

  @Test
  func `the example of JSONPointer works`() throws {
    let seven = JSONPointer("/a/0")?.find(in: try JSONText(parsing: #"{"a":[7]}"#))
    #expect(seven?.text == "7")
  }
}
