import Console
import Testing

private let syntaxes = Syntaxes(
  program: "prog", summary: "does things", options: [Option("json", letter: "j", "as JSON")],
  commands: [
    Syntax(
      "get", "Gets what's there.", operands: [Operand("SRC", .some)],
      options: [Option("at", value: "WHEN", "then: [a time]")]),
    Syntax("care", "Cares.", operands: [Operand("WORK", choices: ["info", "verify"])]),
  ],
  topics: [])

struct CompletionsTests {
  @Test(arguments: Syntaxes.shells)
  func `the script of each shell asks the program, and lets the shell expand nothing`(
    shell: String
  ) throws {
    let script = try #require(syntaxes.completions(for: shell))
    #expect(script.contains("prog completions --"))
    #expect(!script.contains("compgen") && !script.contains("eval"))
  }

  @Test
  func `an unknown shell has no script`() {
    #expect(syntaxes.completions(for: "tcsh") == nil)
  }
}
