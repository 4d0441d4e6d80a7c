import Console
import Wire

let helpSyntax = Syntax(
  "help", "Says what there is, or more of one command or topic.",
  operands: [Operand("TOPIC", .any)])

var helpCommand: Command {
  Command(helpSyntax) { context in
    let words = context.invocation.operands
    guard words == [transformersTopic] else { return try showHelp(words, context) }
    return try showTransformers(context)
  }
}

/// Shows the help on a command or a topic, or the general help.
///
/// - Parameter words: A name with optional operands of the command; empty for the general help.
func showHelp(_ words: [String], _ context: Context) throws(UsageError) -> ExitCode {
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
    "values", "how values are typed",
    """
    VALUE is JSON if it parses, else a string: true, 20.5, '{"a":1}' and Kim all
    work. -s forces a string, so that '-s 5' is "5"; - reads stdin, @FILE a file.
    """),
  HelpTopic(
    "when", "how moments are typed",
    """
    81234             a position of the journal
    -5m, 5 min ago    ago: ms, s, m, h, d, w, or min, hours, days, …; also 1h30m
    08:30             today at that time, by the clocks here; 08:30:15 as well
    today, yesterday  the beginning of the day; with a time: 'yesterday 18:00'
    2026-11-20T20:00  a local time; with Z or +01:00 that of a zone; without T…
                      the beginning of that day
    @1795313984       seconds since 1970, as date +%s prints them
    start, now        the ends of the journal
    """),
  HelpTopic(
    transformersTopic, "what bindings can do to values", transformersText),
  HelpTopic(
    "forms", "in which forms results are written",
    """
    Results go to stdout, everything else to stderr.

    for people   the default: aligned and coloured on a terminal; with tabs and
                 without header when piped
    -j           one JSON document a line, with the members of the protocol
    -r           the bare value, strings without quotes
    -F TEXT      '{seq} {source}={value}': any text; {event.type} is a member of
                 a member, {{ a brace, \\n a new line; a member that no such result
                 has is refused, one that this one lacks is empty

    On colours decide, in this order: --color, NO_COLOR, CLICOLOR_FORCE, whether
    it is a terminal.
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
    70   a bug of bindctl
    124  no answer in time: that of -t, else five minutes
    130  ended by Ctrl-C; 141: nobody reads the output any more
    """),
  HelpTopic(
    "socket", "where the daemon is looked for",
    """
    --socket PATH, else $BINDER_SOCKET, else $XDG_RUNTIME_DIR/binder/bus.sock if
    somebody listens there, else /run/binder/bus.sock. All lines that are sent (->)
    and received (<-) are appended to the file that $BINDER_TRACE names.
    """),
]
