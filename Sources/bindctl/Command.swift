import Console

/// A command: the words it takes, and what it does.
struct Command {
  let syntax: Syntax
  let run: (Context) throws -> ExitCode

  init(_ syntax: Syntax, _ run: @escaping (Context) throws -> ExitCode) {
    self.syntax = syntax
    self.run = run
  }
}

/// All commands, in the order in which help lists them.
var commands: [Command] {
  [
    getCommand, setCommand, unsetCommand, isCommand, waitCommand, callCommand, watchCommand,
    eventsCommand, historyCommand, atCommand, servicesCommand, describeCommand, viewsCommand,
    openCommand,
    bindCommand, unbindCommand,
    bindingsCommand, statsCommand, pingCommand,
    reloadCommand, aclCommand, pipeCommand, sessionCommand, journalCommand, errorsCommand,
    versionCommand,
    completionsCommand, helpCommand,
  ]
}

/// The table of which parser, help and completions are made.
var syntaxes: Syntaxes {
  Syntaxes(
    program: "bindctl", summary: "reads, sets and watches what binderd keeps",
    options: globalOptions, commands: commands.map(\.syntax), topics: helpTopics)
}

private let globalOptions =
  [Option("socket", value: "PATH", "where the daemon listens; see 'bindctl help socket'")]
  + Form.options + [
    Option("color", value: "WHEN", "always, never or auto"),
    Option("help", letter: "h", "what the command does and takes"),
  ]
