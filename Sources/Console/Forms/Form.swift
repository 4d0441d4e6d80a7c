/// The output format of results.
package enum Form: Equatable, Sendable {
  /// For people: tables, and colours on a terminal.
  case human
  /// One JSON document per line, with the members of the protocol.
  case json
  /// The bare value.
  case raw
  case template(Template)

  /// Reads the format from the common options.
  package init(_ invocation: Invocation) throws(UsageError) {
    let chosen = ["json", "raw", "format"].filter { invocation.has($0) }
    guard chosen.count < 2 else {
      throw UsageError("--\(chosen[0]) and --\(chosen[1]) cannot be used together")
    }
    if let format = invocation.value("format") {
      self = .template(try Template(format))
    } else {
      self = invocation.has("json") ? .json : invocation.has("raw") ? .raw : .human
    }
  }

  /// The options that select the format.
  package static let options = [
    Option("json", letter: "j", "one JSON document per line, with the members of the protocol"),
    Option("raw", letter: "r", "only the value; strings without quotes"),
    Option(
      "format", letter: "F", value: "TEXT",
      "TEXT with {member} filled in, for example '{source}={value}'"),
  ]
}
