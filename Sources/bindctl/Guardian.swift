import BinderClient
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

  /// The number of the process.
  var pid: pid_t { child.pid }

  /// Keeps commands, each in a line behind a sign as GROUP:MARK, and ends them at the end of its input.
  ///
  /// A process that has left the group has kept the mark in its environment. A command that is being
  /// started has no group, and in a moment has the mark.
  private static let script = """
    trap '' HUP INT QUIT TERM
    commands=
    marked() { grep "$1" "^\(ProcessTable.mark)=${2#*:}\\$" /proc/[0-9]*/environ; }
    group() { [ "${2%%:*}" ] && kill -s "$1" -- "-${2%%:*}"; }
    runs() { group 0 "$1" || marked -qsz "$1"; }
    send() {
      for command in $commands; do
        group "$1" "$command"
        for file in $(marked -lsz "$command"); do
          process=${file#/proc/}
          kill -s "$1" -- "${process%/*}"
        done
      done
    }
    while read -r sign command; do
      others=
      for other in $commands; do [ "$other" = "$command" ] || others="$others $other"; done
      commands=$others
      [ "$sign" = - ] || commands="$commands $command"
    done
    case $commands in *' :'*) sleep .5 ;; esac
    send TERM
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      others=
      for command in $commands; do runs "$command" && others="$others $command"; done
      commands=$others
      [ "$commands" ] || exit 0
      sleep .5
    done
    send KILL
    send KILL
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

  /// Starts a command, and ends it and all that it has started if bindctl is killed.
  ///
  /// - Parameter begin: Starts it with a mark.
  func start(_ begin: (_ mark: String) throws -> Child) throws -> Child {
    let mark = newCommandID()
    tell("+ :\(mark)\n")
    do {
      let command = try begin(mark)
      tell("+ \(command.pid):\(mark)\n- :\(mark)\n")
      return command
    } catch {
      tell("- :\(mark)\n")
      throw error
    }
  }

  /// The command has ended, and its number may be given to others.
  func release(_ command: Child) { tell("- \(command.pid):\(command.mark)\n") }

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
    let begin = { mark in
      try Child(words, environment: environment, readingFrom: file, isApart: true, mark: mark)
    }
    let child = try guardian?.start(begin) ?? begin(newCommandID())
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
      if received != nil { child.signal(signal) }
      received = received ?? signal
    }
  }
}
