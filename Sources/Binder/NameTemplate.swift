internal import API
internal import JSON

/// The name of a source with values of parameters: `chores/{id}`.
struct NameTemplate {
  /// The parts of the name: texts, and the indices of parameters.
  private let parts: [(text: Substring, parameter: Int?)]

  /// The name with a `*` for each value.
  let pattern: String

  /// Whether it has the value of a parameter.
  var hasValues: Bool { parts.contains { $0.parameter != nil } }

  /// Creates a template.
  ///
  /// - Parameter parameters: The names of the parameters, in order.
  /// - Throws: A sentence about a `{NAME}` that is no parameter.
  init(_ text: String, _ parameters: [String]) throws(TemplateFault) {
    var (parts, pattern): ([(Substring, Int?)], String) = ([], "")
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else {
        throw TemplateFault(text: "'\(text)' has a { without a }")
      }
      let name = rest[rest.index(after: open)..<close]
      guard let index = parameters.firstIndex(where: { $0 == name }) else {
        throw TemplateFault(text: "'\(text)' names '\(name)', which is no parameter")
      }
      parts.append((rest[..<open], index))
      pattern += rest[..<open] + "*"
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append((rest, nil)) }
    (self.parts, self.pattern) = (parts, pattern + rest)
  }

  /// Returns the name for the texts of the parameters; one that was left out is any row: `*`.
  func name(_ texts: [JSONText?]) -> String {
    var name = ""
    for part in parts {
      name += part.text
      guard let index = part.parameter else { continue }
      guard let text = texts[index], text.text != "null" else {
        name += "*"
        continue
      }
      // The decoded value: `1.0` and `1e0` are the id 1.
      name += text.string ?? text.number?.int64.map { "\($0)" } ?? text.text
    }
    return name
  }
}

/// A mistake in a template.
struct TemplateFault: Error {
  let text: String
}

extension Host {
  /// Returns a template with the parameters of something; `nil` for a mistake.
  func template(
    _ text: String, _ parameters: [API.Method.Parameter], _ what: String, _ place: SourcePlace
  ) -> NameTemplate? {
    do throws(TemplateFault) {
      return try NameTemplate(text, parameters.map(\.name))
    } catch {
      addMistake("\(what): \(error.text)", place)
      return nil
    }
  }
}
