import Glibc
import TestSupport
import Testing

/// A client of another user: a separate process, connected by pipes.
final class OtherUser {
  let pid: pid_t
  private let input: CInt
  private let output: UnsafeMutablePointer<FILE>?

  /// Changes the user, connects, and passes lines in both directions until the connection closes.
  private static let program = """
    import os, socket, sys, threading
    # From within: the user may not see the way to the directory.
    os.chdir(os.path.dirname(sys.argv[2]))
    uid, groups, name = int(sys.argv[1]), [int(g) for g in sys.argv[3:]], os.path.basename(sys.argv[2])
    os.setgroups(groups)
    os.setgid(uid)
    os.setuid(uid)
    client = socket.socket(socket.AF_UNIX)
    client.connect(name)
    def send():
        try:
            while (line := sys.stdin.buffer.readline()):
                client.sendall(line)
        except OSError:
            pass
    threading.Thread(target=send, daemon=True).start()
    try:
        while (chunk := client.recv(65536)):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
    except OSError:
        pass
    os._exit(0)
    """

  init(uid: uid_t, groups: [gid_t], socket: String) throws {
    // A line to a process that has ended is an error of a socket, and would be a signal of a pipe.
    var incoming: [CInt] = [-1, -1]
    socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0, &incoming)
    let outgoing = makePipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, incoming[0], 0)
    posix_spawn_file_actions_adddup2(&actions, outgoing[1], 1)
    let words =
      ["python3", "-c", Self.program, "\(uid)", socket] + groups.map { "\($0)" }
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid: pid_t = 0
    let status = posix_spawnp(&pid, words[0], &actions, nil, &argv, environ)
    close(incoming[0])
    close(outgoing[1])
    self.pid = pid
    input = incoming[1]
    output = fdopen(outgoing[0], "r")
    guard status == 0 else { throw DaemonProcess.Failure(description: "no python3") }
  }

  deinit {
    close(input)
    kill(pid, SIGKILL)
    var status: CInt = 0
    waitpid(pid, &status, 0)
    if let output { fclose(output) }
  }

  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = Glibc.send(input, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  /// Returns the next line; `nil` if the daemon has closed the connection.
  func line() -> String? {
    var (text, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    defer { free(text) }
    guard getline(&text, &size, output) > 0, let text else { return nil }
    let line = String(String(cString: text).dropLast())
    Frames.check(line)
    return line
  }

  func call(_ line: String) -> String? {
    send(line)
    return self.line()
  }
}
