import Console
import JSON
import Testing

struct ShellLineTests {
  @Test(
    arguments: [
      ("", []), ("  get  cells/a ", ["get", "cells/a"]), (#"set a 'b c'"#, ["set", "a", "b c"]),
      (#"set a "b \" \\ \n""#, ["set", "a", #"b " \ \n"#]), (#"a\ b"#, ["a b"]),
      (#"x'y'"z""#, ["xyz"]), ("''", [""]), ("a # b", ["a"]), ("a#b", ["a#b"]),
      (#"'{"a":1}'"#, [#"{"a":1}"#]), ("日本 한", ["日本", "한"]), (#"a\"#, [#"a\"#]),
    ] as [(String, [String])])
  func `a line is split as in sh`(line: String, words: [String]) {
    #expect(ShellWords(line).words == words)
    #expect(ShellWords(line).openQuote == nil)
  }

  @Test
  func `an open quote and the word at the end are known`() {
    #expect(ShellWords("get 'a b").openQuote == "'")
    #expect(ShellWords(#"get "a"#).openQuote == "\"")
    #expect(ShellWords("get 'a b").partial == "a b")
    #expect(ShellWords("get ce").partial == "ce")
    #expect(ShellWords("get ").partial == nil)
  }

  @Test(
    arguments: [
      ("set a _", "5", ["set", "a", "5"]), ("set a _", #""on""#, ["set", "a", "on"]),
      ("set a _", #""5""#, ["set", "a", #""5""#]), ("call m x=_", #""5""#, ["call", "m", "x=5"]),
      ("call m x:=_", #""5""#, ["call", "m", #"x:="5""#]), ("set a '_'", "5", ["set", "a", "_"]),
      (#"set a \_"#, "5", ["set", "a", "_"]), ("set a_ b_", "5", ["set", "a_", "b_"]),
      ("set a _ ", #"{"x":[1]}"#, ["set", "a", #"{"x":[1]}"#]),
    ] as [(String, String, [String])])
  func `an underscore is the last result`(line: String, last: String, words: [String]) throws {
    #expect(ShellWords(line).words(replacing: try JSONText(parsing: last)) == words)
    #expect(ShellWords(line).words(replacing: nil) == ShellWords(line).words)
  }

  private let syntaxes = Syntaxes(
    program: "prog", summary: "", options: [Option("socket", letter: "s", value: "PATH", "")],
    commands: [
      Syntax("get", "", operands: [Operand("SRC", .some)], options: [Option("at", value: "T", "")]),
      Syntax("give", "", operands: [Operand("WORK", choices: ["info", "verify"])]),
    ], topics: [])

  @Test(
    arguments: [
      ([""], ["get", "give"]), (["gi"], ["give"]), (["--so"], ["--socket"]),
      (["--socket", "x", "ge"], ["get"]), (["--socket", ""], []), (["get", "cells/"], ["cells/a"]),
      (["get", "--a"], ["--at"]), (["get", "--at", ""], []), (["give", ""], ["info", "verify"]),
      (["get", "-"], ["--at", "--socket"]), (["nothing", ""], []), ([], []),
    ] as [([String], [String])])
  func `the last word is completed by its place`(words: [String], wanted: [String]) {
    let found = syntaxes.candidates(for: words) { question in
      question == ["get", "**", "-F", "{source}"] ? ["cells/a", "cells/$(x)", "-x", "b"] : []
    }
    #expect(found == wanted)
  }
}
