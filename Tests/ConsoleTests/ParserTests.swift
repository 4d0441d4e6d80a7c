import Console
import Testing

private let syntaxes = Syntaxes(
  program: "prog", summary: "does things",
  options: [
    Option("json", letter: "j", "as JSON"), Option("format", letter: "F", value: "TEXT", "as TEXT"),
    Option("help", letter: "h", "help"), Option("version", letter: "V", "version"),
    Option("since", value: "WHEN", "since"),
  ],
  commands: [
    Syntax(
      "get", "Gets.", operands: [Operand("SRC", .some)],
      options: [
        Option("at", value: "WHEN", "then"), Option("lines", letter: "n", value: "N", "so many"),
      ]),
    Syntax("set", "Sets.", operands: [Operand("SRC"), Operand("VALUE")]),
    Syntax("list", "Lists.", operands: [Operand("PATTERN", .optional)]),
    Syntax(
      "run", "Runs.", operands: [Operand("CMD", .some)],
      options: [Option("keep", letter: "k", "keeps")], endsOptionsAtOperand: true),
    Syntax("care", "Cares.", operands: [Operand("WORK", choices: ["info", "verify"])]),
    Syntax(
      "long", "Is long.",
      details: "A paragraph\nof two lines.\n\n  as  it\n  is\n\nThe "
        + String(repeating: "long ", count: 18) + "end."
    ),
  ],
  groups: [("Values", ["get", "set"]), ("Programs", ["run"])],
  topics: [HelpTopic("values", "how values are typed", "As JSON.")])

struct ParserTests {
  @Test
  func `options are accepted before and after the command, in every usual form`() throws {
    for words in [
      ["-j", "get", "a", "--at", "-5m", "-n", "3", "b"],
      ["get", "--json", "a", "--at=-5m", "-n3", "b"],
      ["get", "-jn", "3", "--at", "-5m", "--", "a", "b"],
    ] {
      let invocation = try syntaxes.parse(words)
      #expect(invocation.command == "get")
      #expect(invocation.operands == ["a", "b"])
      #expect(invocation.has("json"))
      #expect(invocation.value("at") == "-5m")
      #expect(invocation.value("lines") == "3")
      #expect(invocation.value("format") == nil)
    }
  }

  @Test
  func `a negative number, a dash and all words after two dashes are operands`() throws {
    #expect(try syntaxes.parse(["set", "a", "-5"]).operands == ["a", "-5"])
    #expect(try syntaxes.parse(["set", "a", "-"]).operands == ["a", "-"])
    #expect(try syntaxes.parse(["set", "a", "--", "--json"]).operands == ["a", "--json"])
  }

  @Test
  func `a command for another program keeps that program's options`() throws {
    let invocation = try syntaxes.parse(["run", "-k", "ls", "-j", "--at", "x"])
    #expect(invocation.operands == ["ls", "-j", "--at", "x"])
    #expect(invocation.has("keep"))
    #expect(try syntaxes.parse(["run", "--", "-x"]).operands == ["-x"])
  }

  @Test
  func `the last value of a repeated option wins, and all values are kept`() throws {
    let invocation = try syntaxes.parse(["get", "a", "--at", "1", "--at", "2"])
    #expect(invocation.value("at") == "2")
    #expect(invocation.values("at") == ["1", "2"])
  }

  @Test
  func `an option can be used without a command`() throws {
    let invocation = try syntaxes.parse(["-V"])
    #expect(invocation.has("version"))
    #expect(invocation.command == nil)
  }

  @Test
  func `help does not require the operands of a command`() throws {
    let invocation = try syntaxes.parse(["set", "--help"])
    #expect(invocation.command == "set")
    #expect(invocation.has("help"))
  }

  @Test
  func `a command of other programs leads to that of this one`() {
    var known = syntaxes
    known.synonyms = ["cat": "get"]
    let error = #expect(throws: UsageError.self) { try known.parse(["cat", "a"]) }
    #expect(error?.description == "unknown command 'cat': did you mean 'get'?")
  }

  @Test
  func `an invalid word is named, with one suggestion`() {
    for (words, message) in [
      (["gett", "a"], "unknown command 'gett': did you mean 'get'?"),
      (["frobnicate"], "unknown command 'frobnicate'"),
      (["get", "a", "--jsno"], "unknown option '--jsno': did you mean '--json'?"),
      (["--xyzzy", "get"], "unknown option '--xyzzy'"),
      (["get", "a", "--pick"], "unknown option '--pick'"),
      (["get", "-q", "a"], "unknown option '-q'"),
      (["get", "a", "--at"], "missing value WHEN of option '--at'"),
      (["get", "a", "-n"], "missing value N of option '-n'"),
      (["get", "a", "--json=1"], "option '--json' takes no value"),
      (["get"], "missing argument SRC"),
      (["set", "a"], "missing argument VALUE"),
      (["set", "a", "b", "c"], "unexpected argument 'c'"),
      (["list", "a", "b"], "unexpected argument 'b'"),
      (["care", "verfy"], "unknown WORK 'verfy' (info or verify): did you mean 'verify'?"),
      (["care"], "missing argument WORK: info or verify"),
    ] {
      let error = #expect(throws: UsageError.self) { try syntaxes.parse(words) }
      #expect(error?.description == message)
    }
  }
}

struct HelpTests {
  private let plain = Style(isOn: false)

  @Test
  func `the help lists every command, option and topic`() {
    let text = syntaxes.help(plain)
    for syntax in syntaxes.commands { #expect(text.contains("  \(syntax.name)")) }
    #expect(text.contains("  -F, --format TEXT  as TEXT"))
    #expect(text.contains("  values  how values are typed"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test
  func `the help shows the commands in groups, each once`() {
    let lines = syntaxes.help(plain).split(separator: "\n", omittingEmptySubsequences: false)
    let start = lines.firstIndex(of: "  list  Lists.")
    #expect(start != nil)
    let expected = """
        list  Lists.
        care  Cares.
        long  Is long.

      Values
        get   Gets.
        set   Sets.

      Programs
        run   Runs.

      For all commands:
      """
    #expect(lines.dropFirst(start ?? 0).prefix(12).joined(separator: "\n") == expected)
  }

  @Test
  func `the help for a command is also found with its choices`() {
    #expect(syntaxes.help(on: ["care", "verify"], plain) == syntaxes.help(on: ["care"], plain))
    #expect(syntaxes.help(on: ["get", "cells/a"], plain) == nil)
    #expect(syntaxes.help(on: ["care", "nothing"], plain) == nil)
  }

  @Test
  func `the help for a command shows its usage, the help for a topic its text`() {
    #expect(
      syntaxes.help(on: ["get"], plain) == """
        usage: prog get [OPTION…] SRC…

        Gets.

              --at WHEN  then
          -n, --lines N  so many
        """)
    #expect(syntaxes.help(on: ["care"], plain) == "usage: prog care info|verify\n\nCares.")
    #expect(
      syntaxes.help(on: ["long"], plain) == """
        usage: prog long

        Is long.

        A paragraph of two lines.

          as  it
          is

        The long long long long long long long long long long long long long long long
        long long long end.
        """)
    #expect(syntaxes.help(on: ["values"], plain) == "values\n\nAs JSON.")
    #expect(syntaxes.help(on: ["gte"], plain) == nil)
  }
}
