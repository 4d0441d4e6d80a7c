import BinderClient
import CSupport
import Console
import Glibc
import JSON
import Synchronization
import Wire

/// A command with its syntax and its action.
struct Command {
  let syntax: Syntax
  let run: (Context) throws -> ExitCode

  init(_ syntax: Syntax, _ run: @escaping (Context) throws -> ExitCode) {
    self.syntax = syntax
    self.run = run
  }
}

/// The context in which a command runs.
final class Context {
  let invocation: Invocation
  let output: Output
  let client: BinderClient

  /// The machine of the daemon; `nil` for this one.
  let remote: RemoteHost?

  /// The path of the socket that the user names, on the machine of the daemon; `nil` to search.
  let socket: String?

  /// The daemon that is meant: its programs and units have this name.
  let daemon: DaemonName

  /// The daemon that the command line names; `nil` if it names none.
  private let namedDaemon: DaemonName?

  /// The syntax of all commands, for the help and the completions.
  let syntaxes: Syntaxes

  init(_ invocation: Invocation, of syntaxes: Syntaxes) throws(UsageError) {
    self.invocation = invocation
    self.syntaxes = syntaxes
    output = try Output(invocation)
    let (named, surrounding) = (invocation.value("host"), Self.surroundingHost)
    let namedDaemon = try Self.daemon(invocation.value("daemon-name"), origin: "-n")
    // A name in the environment is that of a daemon on the machine of $BINDER_HOST.
    let nearby = named == nil ? try Self.daemon(Self.surroundingName, origin: "$BINDER_NAME") : nil
    // So is the path in $BINDER_SOCKET.
    let isSurrounding = namedDaemon == nil && named == nil
    let path =
      invocation.value("socket")
      ?? (isSurrounding && surrounding != nil ? Self.surroundingSocket : nil)
    socket = path
    self.namedDaemon = namedDaemon
    daemon = namedDaemon ?? nearby ?? .binderd
    remote = try (named ?? surrounding).map { name throws(UsageError) in
      try RemoteHost(
        name, origin: named == nil ? "$BINDER_HOST" : "--host", socket: path,
        daemon: namedDaemon ?? nearby)
    }
    client = Self.client(path, namedDaemon, remote)
    if let namedDaemon { nameDaemon(namedDaemon) }
    if remote == nil, let socket = path ?? (isSurrounding ? Self.surroundingSocket : nil),
      socket == variable("BINDER_SESSION")
    {
      client.opener = { () throws(ClientError) in try openInSession(socket) }
    }
    // If the reader of a pipe goes away, a waiting command ends.
    if output.isPipe { client.output = STDOUT_FILENO }
    client.onNote = { note($0.forPeople) }
    client.limits = try limits()
    client.waitsForDaemon = invocation.has("wait-daemon")
  }

  /// Returns a client of the daemon at a socket, or on another machine.
  static func client(
    _ socket: String?, _ daemon: DaemonName?, _ remote: RemoteHost?
  ) -> BinderClient {
    let client = BinderClient(
      socket: socket, daemon: daemon?.text, name: "bindctl", version: Release.version)
    if let remote { client.opener = remote.open }
    return client
  }

  /// Checks the name of a daemon; `nil` is none.
  private static func daemon(
    _ text: String?, origin: String
  ) throws(UsageError) -> DaemonName? {
    guard let text else { return nil }
    guard let name = DaemonName(text) else {
      throw UsageError("\(origin) takes the name of a daemon, not '\(text)': \(DaemonName.rule)")
    }
    return name
  }

  private static var surroundingName: String? {
    variable("BINDER_NAME").flatMap { $0.isEmpty ? nil : $0 }
  }

  private static var surroundingHost: String? {
    variable("BINDER_HOST").flatMap { $0.isEmpty ? nil : $0 }
  }

  private static var surroundingSocket: String? {
    variable("BINDER_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The variables with which a program started by bindctl uses the same daemon.
  var childEnvironment: [String: String] {
    var variables: [String: String] = [:]
    if let remote { variables["BINDER_HOST"] = remote.name }
    // Without these, $BINDER_SOCKET would be taken for a path on that machine, or of that daemon.
    if remote != nil || namedDaemon != nil || socket != nil {
      variables["BINDER_SOCKET"] = socket ?? ""
    }
    if remote != nil || namedDaemon != nil { variables["BINDER_NAME"] = daemon.text }
    return variables
  }

  /// Adds to the options of a command the event that the surrounding `work`, `watch` or `events` works on.
  ///
  /// The event is of the daemon that these use; with another one it says nothing.
  func addCause(to options: inout JSONObject) throws(ClientError) {
    guard ["socket", "daemon-name", "host"].allSatisfy({ !invocation.has($0) }),
      let seq = variable("BINDER_SEQ").flatMap({ UInt64($0) }), seq > 0,
      seq <= (try client.connected().greeting.last)
    else { return }
    options["cause"] = .number(JSONNumber(seq))
  }

  /// Returns the time limits for replies: `-t`, otherwise five minutes.
  ///
  /// The default is long enough for a daemon that replays a large journal.
  private func limits() throws(UsageError) -> AnswerLimits {
    if let milliseconds = try milliseconds("timeout") {
      return AnswerLimits(deadline: Deadline(inMilliseconds: milliseconds), noteMilliseconds: 5_000)
    }
    return AnswerLimits(milliseconds: 300_000, noteMilliseconds: 5_000)
  }

  /// Returns an operand; the parser has checked that required ones exist.
  func operand(_ place: Int) -> String {
    place < invocation.operands.count ? invocation.operands[place] : ""
  }

  /// Returns the number that an option gives; `nil` if the option is absent.
  func number(_ option: String) throws(UsageError) -> UInt64? {
    guard let text = invocation.value(option) else { return nil }
    guard let number = UInt64(text) else {
      throw UsageError("--\(option) takes a number, not '\(text)'", command: invocation.command)
    }
    return number
  }

  /// Returns the duration that an option gives, in milliseconds; `nil` if the option is absent.
  func milliseconds(_ option: String) throws(UsageError) -> UInt64? {
    guard let text = invocation.value(option) else { return nil }
    guard let milliseconds = Duration.milliseconds(text) else {
      throw UsageError(
        "--\(option) takes a time such as 250ms, 2s, 5m or 1h, not '\(text)'",
        command: invocation.command)
    }
    return milliseconds
  }

  /// Returns the time that an option gives; `nil` if the option is absent.
  func moment(_ option: String) throws(UsageError) -> When? {
    guard let text = invocation.value(option) else { return nil }
    return try when(text)
  }

  /// Returns the time that a text names, relative to ``now``.
  func when(_ text: String) throws(UsageError) -> When { try When(text, now: now) }

  /// The present time: in a session, that of its clock.
  var now: Timestamp {
    guard variable("BINDER_SESSION") != nil,
      ["socket", "daemon-name", "host"].allSatisfy({ !invocation.has($0) }),
      let time = try? client.connected().call("clock", [:]).object.string("time")
    else { return .now }
    return Timestamp(time) ?? .now
  }
}

/// Connects to the daemon of a session, unless `bindctl session` has removed its directory.
private func openInSession(_ socket: String) throws(ClientError) -> (ClientSocket, String) {
  let directory = String(socket[..<(socket.lastIndex(of: "/") ?? socket.startIndex)])
  guard access(directory, F_OK) == 0 else { throw .sessionEnded }
  return try ClientSocket.open(SocketSearch(socket: socket))
}

/// Writes a message that is neither a result nor an error to stderr, unless `-q` is given.
func note(_ text: String) {
  if !isQuiet.load(ordering: .relaxed) { say(text, messageStyle.yellow("bindctl:")) }
}

/// Leaves out all notes from now on.
func silenceNotes() { isQuiet.store(true, ordering: .relaxed) }

private let isQuiet = Atomic(false)

/// The command `bindctl` in messages, with the daemon that the command line names: so that a user
/// can type what a message advises.
var bindctlCommand: String { shownProgram.withLock { $0 } }

/// Names the daemon in messages from now on.
private func nameDaemon(_ daemon: DaemonName) {
  shownProgram.withLock { $0 = "bindctl -n \(daemon.text)" }
}

private let shownProgram = Mutex("bindctl")

/// Writes an error to stderr.
func complain(_ text: String) { say(text, messageStyle.red("bindctl:")) }

private func say(_ text: String, _ name: String) {
  let shown = isatty(STDERR_FILENO) == 1 ? text.harmless() : text
  write("\(name) \(shown)\n", to: STDERR_FILENO)
}

/// The words of the command line, without the program name, as the C runtime received them.
let commandLine: [String] = (1..<max(1, cposix_argument_count())).compactMap { place in
  cposix_argument(place).map { String(cString: $0) }
}

/// The style of messages on stderr.
private let messageStyle: Style = {
  // Found without the parser, because the command line may be wrong.
  let words = commandLine.prefix { $0 != "--" }
  let choice =
    words.last { $0.hasPrefix("--color=") }.map { String($0.dropFirst("--color=".count)) }
    ?? zip(words, words.dropFirst()).first { $0.0 == "--color" }?.1
  return Style(choice: choice, environment: variable, isTerminal: isatty(STDERR_FILENO) == 1)
}()

extension ConnectionNote {
  fileprivate var forPeople: String {
    switch self {
    case .lost(nil): "the connection is lost; waiting for the daemon"
    case .lost(let reason?): "the daemon has closed the connection (\(reason)); waiting for it"
    case .resumed(nil): "connected again"
    case .resumed(let seq?): "connected again; continuing after \(seq)"
    case .absent(let error): "\(error); waiting for it"
    case .silent(let path):
      "connected to \(path), but no answer yet: the daemon may still be reading its journal;"
        + " press Ctrl-C to stop waiting"
    }
  }
}

// MARK: Options of several commands

let stringOption = Option("string", letter: "s", "take VALUE as this text, also JSON, - or @FILE")

let noReconnectOption = Option(
  "no-reconnect", "exit with 6 if the connection is lost, instead of waiting for the daemon")

let waitDaemonOption = Option(
  "wait-daemon", "wait for the daemon if it is not there yet, instead of exiting with 3")

let pickOption = Option(
  "pick", value: "/PATH", "a part of each value, for example /one of system/load")

extension Context {
  /// The part of values that `--pick` names; `nil` for the whole value.
  func pick() throws(UsageError) -> JSONPointer? {
    guard let text = invocation.value("pick") else { return nil }
    guard let pointer = JSONPointer(text) else {
      throw UsageError(
        "--pick takes a path such as /wind/speed, not '\(text)'", command: invocation.command)
    }
    return pointer
  }
}

let sinceOption = Option(
  "since", value: "WHEN", "only those after a position, or from a time on; see 'bindctl help when'")
