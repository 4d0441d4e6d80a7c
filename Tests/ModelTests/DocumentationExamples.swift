import JSON
import Model
import Testing

struct ModelExampleTests {
  @Test
  func `the example of CollectionChange works`() throws {
    var list = JSONValue.array([.null])
    for step in try CollectionChange.read(JSONText(parsing: #"[{"op":"remove","at":0}]"#)) {
      try list.apply(step)
    }
    #expect(list == .array([]))
  }

  @Test
  func `the example of Condition works`() throws {
    let isWarm = try Condition(at: "/t", ">", JSONText(parsing: "20"))
    let holds = isWarm.holds(for: try JSONText(parsing: #"{"t":20.5}"#))
    #expect(holds)
  }
}
