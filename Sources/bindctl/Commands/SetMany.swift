import BinderClient
import Console
import Facts
import JSON
import Wire

/// Sets sources from the lines of stdin, all in one commit or none.
func setMany(_ context: Context) throws -> ExitCode {
  let assignments = try assignments(context)
  guard !assignments.isEmpty else { return .done }
  let calls = assignments.map { assignment -> JSONValue in
    .object([
      "method": .string("set"),
      "params": .object([
        "source": .string(assignment.source), "value": assignment.value.value,
      ]),
    ])
  }
  let result: JSONObject
  do throws(ClientError) {
    result = try context.client.call("atomic", ["calls": .array(calls)]).object
  } catch {
    guard case .refused(let refusal) = error, case .number(let index)? = refusal.data["index"],
      let place = index.int64.flatMap({ Int(exactly: $0) }), assignments.indices.contains(place)
    else { throw error }
    let line = "line \(assignments[place].line), \(assignments[place].source)"
    throw Failure(
      "\(line): \(refusal.message); nothing was set", ExitCode(ClientError.refused(refusal)))
  }
  if context.output.form != .human {
    context.output.result(result, bare: result["values"], human: "")
  }
  return .done
}

/// A line of input: a source, spaces or tabs, and a value.
private struct Assignment {
  let line: Int
  let source: String
  let value: JSONText
}

/// Parses the lines of stdin.
///
/// - Throws: ``Failure`` for a line without a value.
private func assignments(_ context: Context) throws -> [Assignment] {
  var assignments: [Assignment] = []
  let lines = try textOfStandardInput().split(separator: "\n", omittingEmptySubsequences: false)
  for (i, line) in lines.enumerated() {
    let words = line.split(maxSplits: 1) { $0 == " " || $0 == "\t" }
    guard let source = words.first else { continue }
    guard words.count == 2 else {
      throw Failure("line \(i + 1), \(source): expected 'SRC VALUE'", .usage)
    }
    let value = String(words[1].drop { $0 == " " || $0 == "\t" })
    assignments.append(
      Assignment(
        line: i + 1, source: String(source),
        value: context.invocation.has("string") ? JSONText(string: value) : JSONText(typed: value)))
  }
  return assignments
}
