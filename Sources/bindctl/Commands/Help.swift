import Console
import Wire

let helpSyntax = Syntax(
  "help", "Lists the commands and topics, or explains one of them.",
  operands: [Operand("TOPIC", .any, completes: .topics)], options: [Manual.option])

var helpCommand: Command {
  Command(helpSyntax) { context in
    let words = context.invocation.operands
    if let name = context.invocation.value("man") { return try showManual(name, context) }
    guard words == [transformersTopic] else { return try showHelp(words, context) }
    return try showTransformers(context)
  }
}

/// Shows the help on a command or a topic, or the general help.
///
/// - Parameter words: A name with optional operands of the command; empty for the general help.
func showHelp(_ words: [String], _ context: Context) throws(UsageError) -> ExitCode {
  let syntaxes = context.syntaxes
  guard let text = syntaxes.help(on: words, context.output.style) else {
    let name = words.joined(separator: " ")
    let names = syntaxes.commands.map(\.name) + syntaxes.topics.map(\.name)
    let guess = nearest(to: name, among: names).map { ": did you mean '\($0)'?" } ?? ""
    throw UsageError("no help on '\(name)'" + guess)
  }
  context.output.line(text)
  return .done
}

let helpTopics = [
  HelpTopic(
    "values", "how to write values",
    """
    VALUE is JSON if it parses, otherwise a string: true, 20.5, '{"a":1}' and Kim
    all work. - reads stdin, @FILE reads a file. With -s the word is the text:
    '-s 5' is "5", and '-s -- SRC "$text"' sets any text, also @x and -x. A text
    that begins with {, [ or a quote but is not JSON needs -s.
    """),
  HelpTopic(
    "when", "how to write times and positions",
    """
    81234             a position of the journal
    -5m, 5 min ago    before now: ms, s, m, h, d, w, or min, hours, days, …; 1h30m
    08:30             today at that local time; also 08:30:15
    today, yesterday, tomorrow
                      the beginning of the day; with a time: 'yesterday 18:00'
    2026-11-20T20:00  a local time; Z or +01:00 names a zone; without T…, the
                      beginning of that day
    @1795313984       seconds since 1970, as printed by date +%s
    start, now        the ends of the journal
    """),
  HelpTopic(
    transformersTopic, "how bindings convert values", transformersText),
  HelpTopic(
    "forms", "the forms of output",
    """
    Results go to stdout, everything else to stderr.

    (default)    on a terminal aligned and colored; in a pipe separated by tabs,
                 without header
    -j           one JSON document per line, with the members of the protocol
    -r           only the value; strings without quotes
    -F TEXT      '{seq} {source}={value}': any text; {event.type} is a nested
                 member, {{ a brace, \\n a new line. A member that this kind of
                 result never has is an error; one that is absent here is empty.
                 A member is on one line: its line ends and other control
                 characters are written as in JSON, and the backslash of a text
                 as \\\\. {value:json} is JSON, {value:string} a JSON string,
                 {value:sh} a word of a shell, {value:raw} the text as it is

    Colors depend on, in this order: --color, NO_COLOR, CLICOLOR_FORCE, and
    whether stdout is a terminal.
    """),
  HelpTopic(
    "exit", "what the exit codes mean",
    """
    0    done, or true
    1    answered with an error, or false
    2    the command line is wrong
    3    no daemon answers
    4    no such source or method
    5    refused: a conflict, a permission (also of the socket), a rule
    6    the connection was lost
    70   a bug in bindctl
    124  no answer in time: the time of -t, by default five minutes
    130  ended by Ctrl-C
    141  the reader of the output has exited
    """),
  HelpTopic(
    "socket", "how bindctl finds the daemon",
    """
    --socket PATH, else the daemon -n NAME, else $BINDER_SOCKET, else the daemon
    $BINDER_NAME, else binderd.

    The daemon NAME is at $XDG_RUNTIME_DIR/NAME/bus.sock if it listens there, else
    at /run/NAME/bus.sock; binderd has the directory binder. -n is an option of
    some commands too, so write it first: bindctl -n choresd history chores/1

    With -H HOST, else $BINDER_HOST, the daemon is that of another machine. Then
    --socket PATH is a path there, and so is $BINDER_SOCKET if $BINDER_HOST is set
    and -H is not given; NAME likewise. Programs that bindctl runs get these
    variables, so that a bindctl in them uses the same daemon.

    If $BINDER_TRACE names a file, all sent (->) and received (<-) lines are
    appended to it.
    """),
]
