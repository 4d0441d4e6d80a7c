import BinderClient
import Console
import Glibc
import JSON

let journalSyntax = Syntax(
  "journal", "Says what a journal holds, and whether all of it reads back.",
  operands: [Operand("WORK", choices: ["info", "verify"])],
  options: [Option("file", value: "FILE", "this journal, also without a daemon")],
  details: """
    info asks the daemon, or reads FILE. verify reads every event of FILE, or of the journal that
    binderd would open, says what is damaged, and exits 1 if anything is.
    """,
  examples: ["bindctl journal info", "bindctl journal verify --file /var/lib/binder/journal.db"])

var journalCommand: Command {
  Command(journalSyntax) { context in
    let file = context.invocation.value("file")
    if context.operand(0) == "info", file == nil { return try showRunning(context) }
    if let file, access(file, R_OK) != 0 {
      throw Failure("'\(file)' cannot be read: \(String(cString: strerror(errno)))")
    }
    // The journal belongs to binderd: only it knows how to read one.
    let child = try Child([binderd, "--verify"] + (file.map { ["--journal", $0] } ?? []))
    let code = child.wait()
    // EX_CONFIG: binderd has said why it cannot open it.
    guard code == EX_CONFIG else { return ExitCode(rawValue: code) }
    note("the journal was not read; while a daemon has it, ask 'bindctl journal info'")
    return .no
  }
}

/// What the daemon says of its journal.
private func showRunning(_ context: Context) throws -> ExitCode {
  let connection = try context.client.connected()
  let greeting = connection.greeting
  let count = greeting.last + 1 - greeting.first
  context.output.result(
    [
      "epoch": .string(greeting.epoch), "first": .number(JSONNumber(greeting.first)),
      "last": .number(JSONNumber(greeting.last)), "count": .number(JSONNumber(count)),
    ],
    bare: nil,
    human: "epoch \(greeting.epoch), \(count) events, \(greeting.first) to \(greeting.last)")
  return .done
}
