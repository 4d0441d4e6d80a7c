import TestSupport

/// Returns a random JSON document, with any white space and escapes that the grammar allows.
func randomDocument(_ random: inout SeededRandom, depth: Int = 0) -> String {
  func space() -> String {
    ["", "", "", " ", "\n", "\t", "\r\n  "].randomElement(using: &random) ?? ""
  }
  func string() -> String {
    let pieces = [
      "a", "key", "ü", "漢", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\ud83d\\ude00",
      "\\u0000", " ", "\u{7f}", "0123456789", "{", "]", ",",
    ]
    let count = Int.random(in: 0...6, using: &random)
    return "\"" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      + "\""
  }
  func number() -> String {
    let numbers = ["0", "-0", "1", "-17", "3.25", "1e3", "1E+2", "2.5e-7", "9007199254740993"]
    return numbers.randomElement(using: &random) ?? "0"
  }
  let value: String
  switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &random) {
  case 0: value = "null"
  case 1: value = Bool.random(using: &random) ? "true" : "false"
  case 2, 3: value = number()
  case 4: value = string()
  case 5, 6:
    let count = Int.random(in: 0...4, using: &random)
    let members = (0..<count).map { i in
      "\(space())\"m\(i)\(string().dropFirst())\(space()):"
        + randomDocument(&random, depth: depth + 1)
    }
    value = "{" + (members.isEmpty ? space() : members.joined(separator: ",")) + "}"
  default:
    let count = Int.random(in: 0...4, using: &random)
    let elements = (0..<count).map { _ in randomDocument(&random, depth: depth + 1) }
    value = "[" + (elements.isEmpty ? space() : elements.joined(separator: ",")) + "]"
  }
  return space() + value + space()
}
