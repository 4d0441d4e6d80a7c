import Console
import Glibc

/// The commands whose output may be long and ends by itself.
private let pagedCommands: Set = [
  "acl", "at", "bindings", "describe", "errors", "events", "get", "help", "history", "ps",
  "services", "tree", "views",
]

extension Context {
  /// Whether the output of the command goes to a pager if it is long.
  var isPaged: Bool {
    !invocation.has("no-pager") && !invocation.has("follow") && !invocation.has("exec")
      && invocation.command.map(pagedCommands.contains) ?? false
  }
}

/// Shows lines in the user's pager if they do not fit on the screen.
///
/// The pager is `$PAGER`, otherwise `less` with the options FRX, as for git. An empty `$PAGER` and
/// `cat` mean none.
final class Pager {
  private let width: Int
  private let height: Int

  /// The first lines, while it is not known whether they fit.
  private var lines: [String] = []
  private var rows = 0
  private var child: Child?
  private var input: CInt = -1
  private let command: String?

  init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
    let command = variable("PAGER") ?? "less"
    let program = ShellWords(command).words.first
    let isUsable = program.map { $0 != "cat" && Self.isInstalled($0) } ?? false
    self.command = isUsable ? command : nil
  }

  /// Returns whether a program is found on the PATH.
  private static func isInstalled(_ program: String) -> Bool {
    guard !program.contains("/") else { return access(program, X_OK) == 0 }
    return (variable("PATH") ?? "").split(separator: ":").contains {
      access("\($0)/\(program)", X_OK) == 0
    }
  }

  /// Writes a line, to the pager if the screen is full.
  func write(_ text: String) {
    guard child == nil else { return send(text) }
    lines.append(text)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      rows += max(1, (String(line).unstyledColumns + width - 1) / max(1, width))
    }
    // One row is left for the prompt of the shell.
    guard rows >= height else { return }
    start()
    flush()
  }

  /// Shows the lines that were kept, and waits until the user quits the pager.
  func finish() {
    flush()
    guard let child else { return }
    close(input)
    _ = child.wait()
  }

  private func flush() {
    for line in lines { send(line) }
    lines = []
  }

  private func start() {
    guard child == nil, let command else { return }
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var variables: [String: String] = [:]
    if variable("LESS") == nil { variables["LESS"] = "FRX" }
    if variable("LESSCHARSET") == nil { variables["LESSCHARSET"] = "utf-8" }
    child = try? Child(["sh", "-c", command], environment: variables, readingFrom: ends[0])
    close(ends[0])
    guard child != nil else {
      close(ends[1])
      return
    }
    input = ends[1]
    // The pager decides what Ctrl-C means. Not ignored, because children would inherit that.
    signal(SIGINT) { _ in }
    signal(SIGPIPE, SIG_IGN)
  }

  private func send(_ text: String) {
    guard let child else { return bindctl.write(text + "\n", to: STDOUT_FILENO) }
    var rest = Array((text + "\n").utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        // The user has quit the pager: nobody reads the rest.
        _ = child.wait()
        exit(ExitCode.done.rawValue)
      }
    }
  }
}
