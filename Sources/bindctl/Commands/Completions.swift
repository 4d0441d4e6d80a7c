import Console

let completionsSyntax = Syntax(
  "completions", "Prints a completion script for a shell.",
  operands: [Operand("SHELL", choices: Syntaxes.shells)],
  examples: [". <(bindctl completions bash)", "bindctl completions fish | source"])

var completionsCommand: Command {
  Command(completionsSyntax) { context in
    context.output.line(syntaxes.completions(for: context.operand(0)) ?? "")
    return .done
  }
}
