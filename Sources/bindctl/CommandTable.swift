import Console

/// All commands, in the order of the help.
var allCommands: [Command] {
  [
    getCommand, setCommand, removeCommand, isCommand, waitCommand, callCommand, watchCommand,
    lockCommand, eventsCommand, ackCommand, workCommand, serveCommand, publishCommand,
    historyCommand, atCommand, plotCommand, sparkCommand, boardCommand, treeCommand, webCommand,
    servicesCommand,
    describeCommand, generateCommand,
    viewsCommand, openCommand, bindCommand, unbindCommand, bindingsCommand, statsCommand,
    metricsCommand, doctorCommand, clusterCommand, slowCommand,
    topCommand, psCommand, kickCommand, pingCommand, whoamiCommand,
    reloadCommand, aclCommand, pipeCommand, shellCommand, sessionCommand, journalCommand,
    errorsCommand,
    versionCommand, completionsCommand, helpCommand,
  ]
}

/// The syntax table for the parser, the help and the completions.
var commandSyntaxes: Syntaxes {
  Syntaxes(
    program: "bindctl", summary: "get, set and watch the values kept by binderd",
    options: globalOptions, commands: allCommands.map(\.syntax), topics: helpTopics)
}

private let globalOptions =
  [
    Option("socket", value: "PATH", "where the daemon listens; see 'bindctl help socket'"),
    Option(
      "host", letter: "H", value: "HOST",
      "use the daemon of another machine, with ssh: [USER@]HOST[:PORT]"),
  ]
  + Form.options + [
    Option(
      "color", value: "WHEN", "color the output: always, never or auto",
      completes: .words(["always", "never", "auto"])),
    Option("no-pager", "do not show long output in $PAGER"),
    Option("quiet", letter: "q", "print only results and errors, no notes"),
    Option(
      "timeout", letter: "t", value: "TIME",
      "give up after TIME (250ms, 2s, 5m, 1h) and exit with 124"),
    Option("help", letter: "h", "show help on the command"),
    Option("version", letter: "V", "show the version of bindctl"),
  ]
