import Console
import JSON

extension JSONObject {
  /// Adds an argument of the form `name=text` or `name:=json`.
  mutating func add(word: String, command: String) throws(UsageError) {
    guard let equals = word.firstIndex(of: "=") else {
      throw UsageError(
        "the argument '\(word)' is neither name=text nor name:=json", command: command)
    }
    let text = String(word[word.index(after: equals)...])
    guard word[..<equals].last == ":" else {
      self[String(word[..<equals])] = .string(text)
      return
    }
    do throws(JSONFault) {
      self[String(word[..<equals].dropLast())] = try JSONValue(parsing: text)
    } catch {
      throw UsageError("'\(text)' in '\(word)' is not JSON: \(error)", command: command)
    }
  }
}
