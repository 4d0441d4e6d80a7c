import BinderClient
import Console
import JSON

let transformersTopic = "transformers"

let transformersText = """
  A binding passes its values through transformers, from left to right:
  'cells/c ~> cells/f | celsiusToFahrenheit | round(1)'. |! applies the
  reverse. A binding with <> needs reversible transformers.
  """

/// Shows the help on transformers, with the list that the daemon supports.
///
/// - Throws: ``ClientError`` if no daemon returns the list; the text is printed before.
func showTransformers(_ context: Context) throws -> ExitCode {
  let output = context.output
  if output.form == .human {
    output.line(output.style.bold(transformersTopic) + "\n\n" + transformersText + "\n")
  }
  let answer = try context.client.call("describe").object
  let transformers = Transformers(answer)
  guard output.form == .human else {
    for transformer in transformers.all {
      output.result(transformer, bare: transformer["name"], human: "")
    }
    return .done
  }
  output.line(transformers.text(width: output.width))
  return .done
}

/// The transformers that a daemon supports.
struct Transformers {
  let all: [JSONObject]

  /// - Parameter description: The reply to `describe`.
  init(_ description: JSONObject) {
    guard case .array(let elements)? = description["transformers"] else {
      all = []
      return
    }
    all = elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }

  /// Returns one line per transformer.
  func text(width: Int?) -> String {
    let rows = all.map { transformer in
      (typed(transformer), transformer["reversible"] == .bool(true) ? "reversible" : "one way")
    }
    return Glossary(rows).text(width: width, Style(isOn: false))
  }

  /// Returns the call syntax, for example `scale(number)`.
  private func typed(_ transformer: JSONObject) -> String {
    let name = transformer["name"]?.bare ?? ""
    guard case .array(let parameters)? = transformer["params"], !parameters.isEmpty else {
      return name
    }
    return name + "(" + parameters.map(\.bare).joined(separator: ", ") + ")"
  }
}
