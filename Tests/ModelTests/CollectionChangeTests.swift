import JSON
import Model
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CollectionChangeTests {
  private func apply(_ steps: String, to value: String) throws -> String {
    var value = try JSONValue(parsing: value)
    for step in try CollectionChange.read(JSONText(parsing: steps)) { try value.apply(step) }
    return value.text.text
  }

  @Test(arguments: [
    #"{"op":"insert","at":1,"value":{"a":1}}"#, #"{"op":"update","at":0,"value":null}"#,
    #"{"op":"merge","at":2,"value":{"a":2}}"#, #"{"op":"remove","at":3}"#,
    #"{"op":"move","from":1,"to":0}"#, #"{"op":"put","key":"a\"b","value":1.50}"#,
    #"{"op":"remove","key":"a"}"#, #"{"op":"reset","value":[1,2]}"#,
  ])
  func `a step that is read is written in the same form`(text: String) throws {
    #expect(try CollectionChange(JSONText(parsing: text)).text == text)
  }

  @Test(arguments: [
    ("[1,2]", #"[{"op":"insert","at":2,"value":3},{"op":"move","from":0,"to":2}]"#, "[2,3,1]"),
    ("[1,2]", #"[{"op":"update","at":0,"value":3},{"op":"remove","at":1}]"#, "[3]"),
    (#"[{"a":1,"b":2}]"#, #"[{"op":"merge","at":0,"value":{"b":3}}]"#, #"[{"a":1,"b":3}]"#),
    (#"{"a":1}"#, #"[{"op":"put","key":"b","value":2},{"op":"remove","key":"a"}]"#, #"{"b":2}"#),
    ("[1]", #"[{"op":"reset","value":[]},{"op":"insert","at":0,"value":2}]"#, "[2]"),
  ])
  func `steps are applied in order`(before: String, steps: String, after: String) throws {
    #expect(try apply(steps, to: before) == after)
  }

  @Test(arguments: [
    (#"{"op":"insert","at":3,"value":1}"#, "[1,2]"),
    (#"{"op":"update","at":2,"value":1}"#, "[1,2]"),
    (#"{"op":"remove","at":0}"#, "[]"), (#"{"op":"move","from":0,"to":2}"#, "[1,2]"),
    (#"{"op":"move","from":2,"to":0}"#, "[1,2]"), (#"{"op":"merge","at":0,"value":{}}"#, "[1]"),
    (#"{"op":"merge","at":1,"value":{}}"#, "[{}]"), (#"{"op":"put","key":"a","value":1}"#, "[]"),
    (#"{"op":"remove","at":0}"#, "{}"), (#"{"op":"insert","at":0,"value":1}"#, "null"),
  ])
  func `a step that does not fit is refused, and the value stays`(step: String, value: String)
    throws
  {
    var whole = try JSONValue(parsing: value)
    let change = try CollectionChange(JSONText(parsing: step))
    #expect(throws: CollectionChange.Fault.self) { try whole.apply(change) }
    #expect(whole.text.text == value)
  }

  @Test(arguments: [
    "{}", "1", #"{"op":"insert","at":-1,"value":1}"#, #"{"op":"insert","at":0}"#,
    #"{"op":"insert","at":0.5,"value":1}"#, #"{"op":"move","from":0}"#, #"{"op":"put","value":1}"#,
    #"{"op":"sort"}"#,
  ])
  func `a malformed step is refused`(step: String) throws {
    let step = try JSONText(parsing: step)
    #expect(throws: CollectionChange.Fault.self) { try CollectionChange(step) }
  }
}
