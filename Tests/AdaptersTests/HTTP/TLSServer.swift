import Glibc
import TestSupport

/// A TLS server with a self-signed certificate.
final class TLSServer {
  struct Failure: Error {}

  private(set) var port: UInt16 = 0
  private let directory: TemporaryDirectory
  private var pid: pid_t = 0

  /// Starts the server with openssl(1).
  init() throws {
    directory = try TemporaryDirectory()
    let ends = makePipe()
    defer { close(ends[0]) }
    let script = """
      cd "$0" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
        -keyout key -out certificate -subj /CN=127.0.0.1 -days 2 2>/dev/null &&
      exec openssl s_server -accept 127.0.0.1:0 -cert certificate -key key -www </dev/null
      """
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    let words: [String] = ["sh", "-c", script, directory.path]
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    let status = posix_spawnp(&pid, "sh", &actions, nil, &argv, environ)
    close(ends[1])
    guard status == 0 else { throw Failure() }
    port = try Self.port(announcedOn: ends[0])
  }

  deinit {
    guard pid > 0 else { return }
    kill(pid, SIGKILL)
    var status: CInt = 0
    waitpid(pid, &status, 0)
  }

  /// Reads the port from the line `ACCEPT 127.0.0.1:PORT`.
  private static func port(announcedOn descriptor: CInt) throws -> UInt16 {
    var text = ""
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      if byte != UInt8(ascii: "\n") {
        text.unicodeScalars.append(Unicode.Scalar(byte))
        continue
      }
      if text.hasPrefix("ACCEPT"),
        let port = text.split(separator: ":").last.flatMap({ UInt16($0) })
      {
        return port
      }
      text = ""
    }
    throw Failure()
  }
}
