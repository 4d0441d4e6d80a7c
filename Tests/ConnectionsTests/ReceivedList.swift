import JSON
import Testing

/// The list of a view, built by a client from the received lines.
struct ReceivedList {
  let view: String
  let property: String
  var elements: [JSONText] = []
  var isMore = false
  private(set) var frames = 0

  init(_ view: String, _ property: String = "list") {
    (self.view, self.property) = (view, property)
  }

  init(answer: String, _ view: String) throws {
    self.init(view)
    try take(answer)
  }

  mutating func take(_ line: String) throws {
    let frame = try #require(JSONText(parsing: line).members)
    let params = try #require((frame["result"] ?? frame["params"])?.members)
    guard params["view"]?.string == view else { return }
    frames += 1
    isMore = params["more"] != nil
    guard let list = params["props"]?.members?[property]?.members else { return }
    if let value = list["value"] { elements = value.elements ?? [] }
    for step in try list["changes"]?.elements.map({ try $0.map { try #require($0.members) } })
      ?? []
    {
      let at = step["at"]?.number?.int64.map(Int.init) ?? 0
      switch step["op"]?.string {
      case "insert": elements.insert(try #require(step["value"]), at: at)
      case "update": elements[at] = try #require(step["value"])
      case "merge":
        guard case .object(var object) = elements[at].value,
          case .object(let members)? = step["value"]?.value
        else {
          Issue.record("\(line)")
          return
        }
        for member in members.members { object[member.name] = member.value }
        elements[at] = JSONValue.object(object).text
      case "remove": elements.remove(at: at)
      case "move":
        let from = Int(try #require(step["from"]?.number?.int64))
        let to = Int(try #require(step["to"]?.number?.int64))
        elements.insert(elements.remove(at: from), at: to)
      default: Issue.record("\(line)")
      }
    }
  }
}
