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
  var syntaxes = Syntaxes(
    program: "bindctl", summary: "get, set and watch the values kept by binderd",
    options: globalOptions, commands: allCommands.map(\.syntax), topics: helpTopics)
  syntaxes.synonyms = synonyms
  return syntaxes
}

/// The commands by the names that they have in other programs.
private let synonyms = [
  "backup": "journal backup", "cat": "get", "clients": "ps", "config": "reload", "del": "remove",
  "delete": "remove", "diff": "at", "health": "doctor", "info": "stats", "keys": "tree",
  "kill": "kick", "list": "tree", "log": "events", "logs": "events", "ls": "tree", "pub": "publish",
  "put": "set", "read": "get", "restore": "journal restore", "rm": "remove", "run": "call",
  "show": "get", "status": "doctor", "sub": "watch", "subscribe": "watch", "tail": "events",
  "undo": "at", "unset": "remove", "who": "whoami", "write": "set",
]

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
