import BinderClient
import CSupport
import Console
import Glibc
import JSON

let shellSyntax = Syntax(
  "shell", "Reads commands line by line, with history and completion.",
  details: """
    A line is a command without the word bindctl: 'get cells/lamp'. Words are quoted as in sh; nothing is
    expanded, and there are no pipes. Tab completes commands, options, sources and methods. Ctrl-C ends
    the running command or gives up the line; exit or Ctrl-D ends the shell. The prompt shows the host of
    -H, and the exit code of a command that has failed. # begins a comment. The options of the shell hold
    for each command. A word _, also after =, is the last result: 'get cells/a', then 'set cells/b _'.

    The history is in $XDG_STATE_HOME/bindctl/history, by default ~/.local/state/bindctl/history.
    Editing needs the library libedit (Debian: apt install libedit2). If stdin is not a terminal, the
    lines of stdin are run, and the exit code is that of the last command.
    """,
  examples: ["bindctl shell", "bindctl shell < commands"])

var shellCommand: Command {
  Command(shellSyntax) { context in
    let shell = Shell(context)
    // A handler, because children would inherit that a signal is ignored.
    signal(SIGINT) { _ in }
    guard isatty(STDIN_FILENO) == 1 else { return shell.runLines(prompts: false) }
    let editor = LineEditor(history: historyFile(), completer: shell.complete)
    guard let editor else {
      note("no line editing: libedit is not installed; to install it: apt install libedit2")
      return shell.runLines(prompts: true)
    }
    return shell.run(editor)
  }
}

/// Returns the path of the history and creates its directory; `nil` without a home directory.
private func historyFile() -> String? {
  let home = variable("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
  let state = variable("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
  guard let parent = state ?? home.map({ $0 + "/.local/state" }) else { return nil }
  let path = parent + "/bindctl"
  for end in path.indices.dropFirst() where path[end] == "/" { mkdir(String(path[..<end]), 0o700) }
  mkdir(path, 0o700)
  return path + "/history"
}

/// Runs lines as commands, each in a process of its own, so that each can be interrupted.
private final class Shell {
  private let context: Context

  /// The global options of the shell, which apply to each command.
  private let options: [String]

  /// The form of results for the commands that name none.
  private let form: [String]
  private var code = ExitCode.done

  /// The file into which a command writes its last result; `nil` if there can be none.
  private let resultFile: CInt?

  /// The last result; `nil` before the first.
  private var last: JSONText?

  /// The last answers for completions, by question, with the time of their end.
  private var answers: [CompletionQuestion: (candidates: [Candidate], until: Deadline)] = [:]

  init(_ context: Context) {
    self.context = context
    let invocation = context.invocation
    resultFile = try? Child.input("")
    // Commands inherit it.
    if let resultFile { _ = fcntl(resultFile, F_SETFD, 0) }
    form =
      ["json", "raw"].filter(invocation.has).map { "--" + $0 }
      + (invocation.value("format").map { ["--format", $0] } ?? [])
    options =
      (invocation.value("color").map { ["--color", $0] } ?? [])
      + (invocation.value("timeout").map { ["--timeout", $0] } ?? [])
      + ["no-pager", "quiet"].filter(invocation.has).map { "--" + $0 }
  }

  /// This program; the link stays valid when the file is replaced by an upgrade.
  private static var program: String {
    access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : String(cString: cposix_program())
  }

  private var prompt: String {
    let place = context.remote.map { " " + $0.name } ?? ""
    return "bindctl\(place)" + (code == .done ? "> " : " [\(code.rawValue)]> ")
  }

  /// Runs lines with editing until the end.
  func run(_ editor: LineEditor) -> ExitCode {
    while true {
      do throws(LineEditor.End) {
        guard run(try editor.read(prompt: prompt)) else { return .done }
      } catch {
        write("\n", to: STDOUT_FILENO)
        guard error == .interrupted else { return .done }
        code = .done
      }
    }
  }

  /// Runs the lines of stdin.
  func runLines(prompts: Bool) -> ExitCode {
    while true {
      if prompts { write(prompt, to: STDOUT_FILENO) }
      guard let line = nextLine(), run(line) else { return prompts ? .done : code }
    }
  }

  /// Reads a line of stdin; `nil` at its end.
  ///
  /// It reads single bytes, because commands read from the same input.
  private func nextLine() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { break }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Runs a line.
  ///
  /// - Returns: `false` to end the shell.
  private func run(_ line: String) -> Bool {
    let line = ShellWords(line)
    var words = line.words(replacing: last)
    if words.first == "bindctl" { words.removeFirst() }
    guard let first = words.first else { return true }
    if words.count == 1, ["exit", "quit"].contains(first) { return false }
    if let quote = line.openQuote {
      complain("the quote \(quote) is not closed")
      code = .usage
      return true
    }
    do {
      let hasForm = (try? context.syntaxes.parse(words)).map { invocation in
        Form.options.contains { invocation.has($0.name) }
      }
      let all = options + (hasForm == true ? [] : form) + words
      var environment = context.childEnvironment
      if let resultFile {
        ftruncate(resultFile, 0)
        environment[Output.lastResultName] = "\(resultFile)"
      }
      let child = try Child([Self.program] + all, environment: environment)
      code = ExitCode(rawValue: wait(for: child))
      last = result ?? last
    } catch {
      complain("the command cannot be run: \((error as? Failure)?.message ?? "\(error)")")
      code = .bug
    }
    return true
  }

  /// The last result of the command that has run; `nil` if it had none.
  private var result: JSONText? {
    guard let resultFile else { return nil }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = pread(resultFile, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    return try? JSONText(parsing: String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// Waits for a command; if it stops itself, this process stops too.
  private func wait(for child: Child) -> CInt {
    var status: CInt = 0
    while true {
      guard waitpid(child.pid, &status, WUNTRACED) == child.pid else {
        guard errno == EINTR else { return ExitCode.bug.rawValue }
        continue
      }
      guard status & 0xFF == 0x7F else { break }
      raise(SIGSTOP)
      kill(child.pid, SIGCONT)
    }
    let signal = status & 0x7F
    guard signal == 0 else {
      // The command may have been interrupted within a line.
      if signal == SIGINT { write("\n", to: STDOUT_FILENO) }
      return 128 + signal
    }
    return (status >> 8) & 0xFF
  }

  // MARK: Completion

  /// Returns the completions of the last word of a line.
  func complete(_ line: String) -> [String] {
    let line = ShellWords(line)
    var words = line.words
    if line.partial == nil { words.append("") }
    if words.first == "bindctl", words.count > 1 { words.removeFirst() }
    let completion = LineCompletion(words, context.syntaxes)
    let completer = Completer(context, completion)
    return completion.candidates(context.syntaxes) { question in
      if let answer = answers[question], !answer.until.isOver { return answer.candidates }
      let candidates = completer.ask(question)
      answers[question] = (candidates, Deadline(inMilliseconds: 2000))
      return candidates
    }.map(\.word)
  }
}
