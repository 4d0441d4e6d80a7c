import BinderClient
import Console
import Glibc
import JSON
import Model
import Wire

let topSyntax = Syntax(
  "top", "Shows the activity of the daemon: rates, streams, readers and clients.",
  options: [noReconnectOption, waitDaemonOption],
  details: """
    On a terminal it stays in place until q. Keys: e sorts the streams by events, b by bytes; arrows scroll
    the streams, or after tab the clients. A curve is scaled from 0 to its largest value. The rates of
    streams are averages of some seconds; bytes are those of the event data. The daemon reports the 50
    streams with the most events and the 50 with the most bytes, and how many others are written. A durable
    reader has what waits for it, its workers and the events that they have; one that nobody reads with is dim.

    In a pipe, with -j, -r or -F, it measures for a second and prints one line for each stream that was
    written. Streams are counted only while somebody watches.
    """,
  examples: ["bindctl top", "bindctl top | sort -k 2 -n", "bindctl top -j"])

var topCommand: Command {
  Command(topSyntax) { context in
    if context.output.form == .human, let terminal = Terminal() {
      let connection = try context.client.connected()
      let (path, daemon) = (connection.path, connection.greeting.server.name)
      // Not every daemon has durable readers, and not every role may read of them.
      let sources = TopScreen.sources.filter { source in
        source != "daemon/readers"
          || (try? connection.call("get", ["source": .string(source)])) != nil
      }
      context.client.disconnect()
      return try showInPlace(
        TopScreen(of: path, daemon: daemon, userName: userName),
        sources.map { Topic($0, mode: .newest) }, terminal, context)
    }
    return try printStreams(context)
  }
}

/// Measures for a second and prints the streams that were written.
private func printStreams(_ context: Context) throws -> ExitCode {
  let follower = try context.client.follow(
    [Topic("daemon/streams", mode: .newest)], reconnects: false)
  // The daemon sends nothing if nothing was written.
  let deadline = Deadline(inMilliseconds: 2_500)
  var rows: [JSONValue] = []
  var count: UInt64 = 0
  while true {
    do throws(ClientError) {
      guard case .value(let value) = try follower.next(until: deadline), !value.isPresent,
        case .object(let rates)? = value.value?.value, case .array(let streams)? = rates["streams"]
      else { continue }
      (rows, count) = (streams, rates.uint("count") ?? 0)
    } catch {
      guard error == .timedOut, deadline.isOver else { throw error }
    }
    break
  }
  for case .object(let row) in rows {
    context.output.result(
      row, bare: row["stream"],
      human: [row.string("stream"), row["events_per_second"]?.bare, row["bytes_per_second"]?.bare]
        .map { $0 ?? "" }.joined(separator: "\t"))
  }
  if count > rows.count { note("\(count - UInt64(rows.count)) more streams were written") }
  return .done
}

let boardSyntax = Syntax(
  "board", "Shows sources in a table that stays in place and marks what changes.",
  operands: [Operand("PATTERN", .some)],
  options: [
    Option("every", value: "TIME", "show at most one value of a source per TIME; default 200ms"),
    noReconnectOption, waitDaemonOption,
  ],
  details: """
    A changed row is marked for three seconds: + added, - removed, ▲ a larger number, ▼ a smaller one,
    * any other change. Keys: arrows choose a row, enter shows its whole value, s sorts by name or by the
    last change, q quits. A name without a / is a board that was made in the page, the cell boards/NAME.
    Titles and units come from its tiles, and from the types of 'bindctl describe --types'.

    In a pipe, with -j, -r or -F, it prints the present values once, as 'bindctl get' does.
    """,
  examples: [
    "bindctl board 'cells/**'", "bindctl board 'cells/*' 'locks/*' system/load",
    "bindctl board house",
  ])

var boardCommand: Command {
  Command(boardSyntax) { context in
    var patterns = context.invocation.operands
    let interval = try context.milliseconds("every") ?? 200
    let board = try namedBoard(patterns, context)
    if let board { patterns = board.tiles.map(\.source) }
    guard context.output.form == .human, let terminal = Terminal() else {
      return try printValues(of: patterns, context)
    }
    let types = context.types
    context.client.disconnect()
    return try showInPlace(
      board.map { Board($0, types: types) } ?? Board(patterns, types: types),
      patterns.map { Topic($0, mode: .newest, everyMilliseconds: interval) }, terminal, context)
  }
}

/// Returns the board that the command line names; `nil` if it has sources or patterns.
private func namedBoard(_ operands: [String], _ context: Context) throws -> NamedBoard? {
  guard let name = operands.first(where: { !$0.contains("/") && !$0.contains("*") }),
    name != "events"
  else { return nil }
  guard operands.count == 1 else {
    throw UsageError(
      "board takes one board, or sources and patterns, not '\(name)' and others", command: "board")
  }
  let boards = try context.client.connected().values(of: "cells/boards/*")
  guard let known = boards.first(where: { $0.source == "cells/boards/\(name)" }) else {
    let names = boards.map { String($0.source.dropFirst("cells/boards/".count)) }
    let near = nearest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
    throw Failure(
      "no board '\(name)'\(near.isEmpty && !names.isEmpty ? "; the boards are \(names.joined(separator: ", "))" : near)",
      .notFound)
  }
  guard let board = NamedBoard(known.value, name: name), !board.tiles.isEmpty else {
    throw Failure("the board '\(name)' has no tiles", .notFound)
  }
  return board
}

extension Context {
  /// The declared types; none if the daemon does not show them to this user.
  var types: KnownTypes {
    guard let list = try? client.call("types.list").object.array("value") else {
      return KnownTypes()
    }
    return KnownTypes(
      list.compactMap { entry in
        guard let pattern = entry.object.string("pattern"), let type = entry.object.string("type")
        else { return nil }
        return (pattern, type)
      })
  }
}

/// Prints the present values of sources, one line each.
private func printValues(of patterns: [String], _ context: Context) throws -> ExitCode {
  for pattern in patterns {
    for (source, value) in try context.client.connected().values(of: pattern) {
      context.output.result(
        ["source": .string(source), "value": value], bare: value,
        human: source + "\t" + value.text.text)
    }
  }
  return .done
}

extension BinderConnection {
  /// Returns the present values of a source or of a pattern of sources, by name.
  ///
  /// A source that is still being loaded has its state as value.
  func values(
    of pattern: String
  ) throws(ClientError) -> [(source: String, value: JSONValue)] {
    let answer = try call("get", ["source": .string(pattern)]).object
    guard case .object(let values)? = answer["values"] else {
      return [(pattern, answer["value"] ?? .null)]
    }
    return values.members.map { ($0.name, $0.value) }
  }
}

let treeSyntax = Syntax(
  "tree", "Shows the sources as a tree, with their values.",
  operands: [Operand("PREFIX", .optional, completes: .services)],
  options: [
    Option("level", letter: "L", value: "N", "show N levels; deeper sources are counted")
  ],
  details: "In a pipe it prints one line for each source, with its full name.",
  examples: ["bindctl tree", "bindctl tree cells", "bindctl tree -L 1"])

var treeCommand: Command {
  Command(treeSyntax) { context in
    let levels = try context.number("level")
    if levels == 0 { throw UsageError("--level must be at least 1", command: "tree") }
    var prefix = context.operand(0)[...]
    while prefix.hasSuffix("/") { prefix.removeLast() }
    guard !prefix.contains("*") else {
      throw UsageError(
        "PREFIX is the beginning of names, for example cells, not the pattern '\(prefix)'",
        command: "tree")
    }
    let connection = try context.client.connected()
    var values: [(source: String, value: JSONValue)] = []
    if prefix.contains("/") {
      do throws(ClientError) {
        let answer = try connection.call("get", ["source": .string(String(prefix))]).object
        values.append((String(prefix), answer["value"] ?? .null))
      } catch {
        guard case .refused(let refusal) = error, refusal.name == .notFound else { throw error }
      }
    }
    values += try connection.values(of: prefix.isEmpty ? "**" : prefix + "/**")
    if values.isEmpty, !prefix.isEmpty {
      throw Failure("no source begins with '\(prefix)/'", .notFound)
    }
    let output = context.output
    guard output.form == .human, output.isTerminal else {
      for (source, value) in values {
        output.result(
          ["source": .string(source), "value": value], bare: .string(source),
          human: source + "\t" + value.text.text)
      }
      return .done
    }
    var tree = SourceTree()
    for (source, value) in values { tree.add(source, value.text.text) }
    let depth = levels.flatMap { Int(exactly: $0) } ?? .max
    for line in tree.lines(depth: depth, width: output.width, output.style) { output.line(line) }
    return .done
  }
}
