import Glibc

/// A process that ends the commands of bindctl if bindctl is killed.
///
/// A command that went on would work beside the one that takes its place: the daemon gives the work of a
/// client that is gone to others.
final class Guardian {
  /// The writing end of the pipe whose end tells the process that bindctl is gone.
  private let input: CInt

  /// It stays open, so that a message to a process that was killed is no error.
  private let output: CInt
  private let child: Child

  /// Keeps the numbers of process groups, each in a line behind a sign, and ends these groups at the end of
  /// its input.
  private static let script = """
    trap '' HUP INT QUIT TERM
    groups=
    while read -r sign group; do
      others=
      for other in $groups; do [ "$other" = "$group" ] || others="$others $other"; done
      groups=$others
      [ "$sign" = - ] || groups="$groups $group"
    done
    for group in $groups; do kill -s TERM -- "-$group"; done
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      others=
      for group in $groups; do kill -s 0 -- "-$group" && others="$others $group"; done
      groups=$others
      [ "$groups" ] || exit 0
      sleep .5
    done
    for group in $groups; do kill -s KILL -- "-$group"; done
    """

  /// Starts the process.
  init() throws {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw Failure("cannot create a pipe: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // If the process was killed, nobody reads.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(nothing) }
    do {
      child = try Child(
        ["/bin/sh", "-c", Self.script], printingTo: nothing, errorsInto: nothing,
        readingFrom: ends[0], isApart: true)
    } catch {
      for end in ends { close(end) }
      throw error
    }
    (output, input) = (ends[0], ends[1])
  }

  /// Ends the process group of a command if bindctl is killed.
  func watch(_ command: Child) { tell("+ \(command.pid)\n") }

  /// The command has ended, and its number may be given to others.
  func release(_ command: Child) { tell("- \(command.pid)\n") }

  private func tell(_ line: String) {
    let bytes = Array(line.utf8)
    _ = write(input, bytes, bytes.count)
  }

  /// Ends the process, which must watch no command any more, and waits for it.
  func end() {
    close(input)
    close(output)
    _ = child.wait()
  }
}

extension Child {
  /// Runs a program once and waits for its end; a first signal lets it finish, further signals are
  /// passed to it and all that it has started.
  ///
  /// - Parameters:
  ///   - input: Its stdin.
  ///   - guardian: Ends it if this program is killed.
  /// - Returns: Its exit code as in shells, and the first signal that arrived meanwhile.
  static func run(
    _ words: [String], environment: [String: String], input: String, watchedBy guardian: Guardian?
  ) throws -> (code: CInt, signal: CInt?) {
    let signals = SignalWait([SIGCHLD, SIGINT, SIGTERM, SIGHUP])
    defer { signals.end() }
    let file = try Child.input(input)
    defer { close(file) }
    let child = try Child(words, environment: environment, readingFrom: file, isApart: true)
    guardian?.watch(child)
    defer { guardian?.release(child) }
    var received: CInt?
    while true {
      if let code = child.end() {
        while let late = signals.next(withinMilliseconds: 0) {
          if late != SIGCHLD { received = received ?? late }
        }
        return (code, received)
      }
      let signal = signals.next()
      guard signal != SIGCHLD else { continue }
      if received != nil { kill(-child.pid, signal) }
      received = received ?? signal
    }
  }
}
