import Console

/// All commands in groups, in the order of the help.
private var commandGroups: [(title: String, commands: [Command])] {
  [
    (
      "Values",
      [
        getCommand, setCommand, removeCommand, atomicCommand, isCommand, waitCommand, watchCommand,
        treeCommand, syncCommand,
      ]
    ),
    (
      "The past",
      [
        historyCommand, atCommand, diffCommand, whyCommand, undoCommand, plotCommand, sparkCommand,
      ]
    ),
    ("Events and their readers", [eventsCommand, ackCommand, workCommand]),
    (
      "Services and programs",
      [
        servicesCommand, describeCommand, callCommand, generateCommand, serveCommand,
        publishCommand, serviceCommand,
        lockCommand,
      ]
    ),
    ("Bindings", [bindCommand, unbindCommand, bindingsCommand]),
    ("Views and boards", [viewsCommand, openCommand, viewCommand, boardCommand, webCommand]),
    (
      "The daemon",
      [
        doctorCommand, statsCommand, metricsCommand, topCommand, slowCommand, pingCommand,
        clusterCommand, psCommand, kickCommand, whoamiCommand, aclCommand, reloadCommand,
        journalCommand,
      ]
    ),
    (
      "The command line",
      [
        shellCommand, pipeCommand, sessionCommand, clockCommand, errorsCommand, completionsCommand,
        versionCommand,
        helpCommand,
      ]
    ),
  ]
}

/// All commands, in the order of the help.
var allCommands: [Command] { commandGroups.flatMap(\.commands) }

/// The syntax table for the parser, the help and the completions.
var commandSyntaxes: Syntaxes {
  var syntaxes = Syntaxes(
    program: "bindctl", summary: "get, set and watch the values kept by binderd",
    options: globalOptions, commands: allCommands.map(\.syntax),
    groups: commandGroups.map { ($0.title, $0.commands.map(\.syntax.name)) }, topics: helpTopics)
  syntaxes.synonyms = synonyms
  return syntaxes
}

/// The steps for which there is no command of its own.
private let copying = "get OLD | bindctl set NEW -"
private let renaming = "atomic -- set NEW VALUE -- call cells.remove name=OLD"

/// The commands by the names that they have in other programs.
private let synonyms = [
  "add": "set", "backup": "journal backup", "branch": "session --from", "cat": "get",
  "cause": "why", "clients": "ps", "compact": "journal compact", "config": "reload",
  "copy": copying, "cp": copying, "create": "set", "del": "remove", "delete": "remove",
  "dump": "journal export", "edit": "set",
  "exists": "is", "explain": "why", "export": "journal export", "find": "tree", "follow": "watch",
  "fork": "session --from", "graph": "plot", "grep": "tree", "health": "doctor",
  "import": "journal import", "info": "stats", "keys": "tree", "kill": "kick", "less": "get",
  "list": "tree", "log": "events", "logs": "events", "ls": "tree",
  "methods": "services", "monitor": "watch", "more": "get", "move": renaming, "mv": renaming,
  "permissions": "acl check", "pub": "publish", "put": "set", "read": "get",
  "ren": renaming, "rename": renaming,
  "restart": "systemctl restart binderd", "restore": "journal restore", "revert": "undo",
  "rm": "remove", "rollback": "undo", "rules": "bindings", "run": "call", "schema": "describe",
  "search": "tree", "show": "get", "simulate": "bind --try", "start": "systemctl start binderd",
  "status": "doctor", "stop": "systemctl stop binderd", "sub": "watch", "subscribe": "watch",
  "tail": "events", "time": "clock", "trace": "why", "try": "bind --try",
  "types": "describe --types", "unlock": "lock", "unset": "remove", "update": "set",
  "users": "stats --users", "verify": "journal verify", "who": "whoami", "write": "set",
]

private let globalOptions =
  [
    Option(
      "daemon-name", letter: "n", value: "NAME",
      "use the daemon of this name, not binderd; see 'bindctl help socket'", completes: .daemons),
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
