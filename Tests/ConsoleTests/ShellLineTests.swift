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
    program: "prog", summary: "",
    options: [
      Option("daemon-name", letter: "n", value: "NAME", "", completes: .daemons),
      Option("socket", value: "PATH", ""), Option("host", letter: "H", value: "HOST", ""),
      Option("color", value: "WHEN", "", completes: .words(["always", "never"])),
      Option("json", letter: "j", "as JSON"),
    ],
    commands: [
      Syntax("get", "", operands: [Operand("SRC", .some)], options: [Option("at", value: "T", "")]),
      Syntax("set", "", operands: [Operand("SRC"), Operand("VALUE", .optional)]),
      Syntax("give", "Gives.", operands: [Operand("WORK", choices: ["info", "verify"])]),
      Syntax("call", "", operands: [Operand("METHOD"), Operand("ARG", .any)]),
      Syntax("open", "", operands: [Operand("VIEW"), Operand("ARG", .any)]),
      Syntax("unbind", "", operands: [Operand("NAME", completes: .bindings)]),
      Syntax(
        "lock", "",
        operands: [Operand("NAME", completes: .names(of: "locks")), Operand("CMD", .some)]),
      Syntax("describe", "", operands: [Operand("PATH", .optional)]),
      Syntax("tree", "", operands: [Operand("PREFIX", .optional, completes: .services)]),
      Syntax("kick", "", operands: [Operand("ID", .some)]),
      Syntax("help", "", operands: [Operand("TOPIC", .any, completes: .topics)]),
      Syntax("session", "", operands: [Operand("CMD", .some)], endsOptionsAtOperand: true),
    ], topics: [HelpTopic("exit", "codes", "")])

  private func answer(_ question: CompletionQuestion) -> [Candidate] {
    switch question {
    case .sources("cells/**"): ["cells/a", "cells/b"].map { Candidate($0) }
    case .sources("locks/**"): [Candidate("locks/backup")]
    case .sources("**"): ["cells/a", "cells/$(x)", "cells/a b", "-x", "b"].map { Candidate($0) }
    case .sources: []
    case .names: [Candidate("cells", "Values."), Candidate("cells.set"), Candidate("ping")]
    case .views: [Candidate("cell", "One cell.")]
    case .methodArguments("cells.set"): [Candidate("name="), Candidate("value:=")]
    case .viewArguments("cell"): [Candidate("name=")]
    case .methodArguments, .viewArguments: []
    case .bindings: [Candidate("1", "a ~> b"), Candidate("warm")]
    case .connections: [Candidate("12", "bindctl")]
    case .daemons: [Candidate("binderd"), Candidate("choresd"), Candidate("b;d")]
    }
  }

  private func words(_ line: [String]) -> [String] {
    LineCompletion(line, syntaxes).candidates(syntaxes, ask: answer).map(\.word)
  }

  @Test(
    arguments: [
      (["gi"], ["give"]), (["--so"], ["--socket"]), (["--socket", "x", "ge"], ["get"]),
      (["--socket", ""], []), (["-H", "box", "ge"], ["get"]), (["-Hbox", "ge"], ["get"]),
      (["--host=box", "ge"], ["get"]), (["-j", "ge"], ["get"]),
      (["get", "cells/"], ["cells/a", "cells/b"]),
      (["-H", "box", "get", "cells/a"], ["cells/a"]), (["get", "--a"], ["--at"]),
      (["get", "--at", ""], []), (["get", "x", "--at", "c"], []), (["get", "c"], ["cells/a"]),
      (["set", "cells/a"], ["cells/a"]), (["set", "cells/a", ""], []),
      (["give", ""], ["info", "verify"]),
      (["give", "info", ""], []), (["--color", ""], ["always", "never"]),
      (["call", "cells."], ["cells.set"]), (["call", "cells.set", ""], ["name=", "value:="]),
      (["call", "cells.set", "name=a", ""], ["value:="]), (["open", "c"], ["cell"]),
      (["open", "cell", ""], ["name="]), (["unbind", ""], ["1", "warm"]),
      (["lock", "b"], ["backup"]), (["-n", ""], ["binderd", "choresd"]),
      (["-n", "choresd", "ge"], ["get"]), (["get", "--daemon-name", "c"], ["choresd"]),
      (["lock", "a", ""], []), (["describe", "cells"], ["cells", "cells.set", "cells/a"]),
      (["tree", ""], ["cells", "ping"]), (["kick", ""], ["12"]), (["kick", "12", ""], ["12"]),
      (["help", "ex"], ["exit"]), (["help", "gi"], ["give"]), (["session", "x", "--so"], []),
      (["get", "--", "-"], []), (["nothing", ""], []), ([], []),
    ] as [([String], [String])])
  func `the last word is completed by its place`(line: [String], wanted: [String]) {
    if line.isEmpty || line == ["nothing", ""] {
      #expect(words(line).allSatisfy { syntaxes[$0] != nil })
    } else {
      #expect(words(line) == wanted)
    }
  }

  @Test
  func `the daemon of the line is asked`() {
    func place(_ words: String...) -> (String?, String?) {
      let completion = LineCompletion(words, syntaxes)
      return (completion.socket, completion.host)
    }
    #expect(place("--socket", "/a", "get", "") == ("/a", nil))
    #expect(place("get", "--socket=/a", "-H", "box", "") == ("/a", "box"))
    #expect(place("get", "") == (nil, nil))
    #expect(place("--socket", "") == (nil, nil))
    let found = LineCompletion(["gi"], syntaxes).candidates(syntaxes, ask: answer)
    #expect(found == [Candidate("give", "Gives.")])
  }
}
