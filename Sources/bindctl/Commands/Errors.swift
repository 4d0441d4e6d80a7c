import Console
import JSON
import Wire

let errorsSyntax = Syntax("errors", "Lists the errors that the daemon can return.")

var errorsCommand: Command {
  Command(errorsSyntax) { context in
    var table = Table(["CODE", "NAME", "RETRY", "MEANING"], numbers: [0])
    for name in ErrorName.allCases {
      let row = name.row
      if context.output.form == .human {
        table.add(["\(row.code)", name.rawValue, row.retry ? "yes" : "no", row.meaning])
      } else {
        context.output.result(
          [
            "code": .number(JSONNumber(row.code)), "name": .string(name.rawValue),
            "retry": .bool(row.retry),
            "data": .array((row.data + row.optional).map { .string($0) }),
            "meaning": .string(row.meaning),
          ], bare: .string(name.rawValue), human: "")
      }
    }
    if context.output.form == .human { context.output.table(table) }
    return .done
  }
}
