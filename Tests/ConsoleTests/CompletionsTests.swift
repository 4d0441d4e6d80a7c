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
  func `the script of each shell has every command, option and choice`(shell: String) throws {
    let script = try #require(syntaxes.completions(for: shell))
    for word in ["get", "care", "at", "json", "info", "verify", "prog get '**' -F '{source}'"] {
      let quoted = word.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: #"'\''"#)
      #expect(script.contains(word) || script.contains(quoted), "\(word)")
    }
  }

  @Test(arguments: Syntaxes.shells)
  func `the output of a daemon is filtered and never expanded`(shell: String) throws {
    let script = try #require(syntaxes.completions(for: shell))
    let asked = script.split(separator: "\n").filter { $0.contains("prog get ") }
    #expect(!asked.isEmpty)
    #expect(asked.allSatisfy { $0.contains("| LC_ALL=C grep -xE ") })
    #expect(!script.split(separator: "\n").contains { $0.contains("compgen -W \"$words\" ") })
  }

  @Test
  func `an unknown shell has no script`() {
    #expect(syntaxes.completions(for: "tcsh") == nil)
  }
}
