internal import Glibc

/// A PostgreSQL server for tests, on a Unix socket.
///
/// It runs until its standard input ends, so it ends with the process at the latest.
package final class PostgresServer: Sendable {
  /// The server of most tests, each with a database of its own; `nil` if PostgreSQL is not there.
  package static let shared = try? PostgresServer()

  /// The directory of the socket.
  package let directory: String
  private let input: CInt
  private let child: pid_t

  package struct Failure: Error {
    package let description: String
  }

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - settings: Settings such as `"synchronous_standby_names=b"`.
  ///   - variables: Environment variables for `Scripts/postgres`.
  package init(_ settings: [String] = [], variables: [String] = []) throws {
    // The server runs as another user, who cannot enter a private directory.
    var template = Array("/tmp/binderd-pg.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(description: "no directory") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let script = #filePath.replacing(
      "Tests/TestSupport/PostgresServer.swift", with: "Scripts/postgres")
    let (into, from) = (makePipe(), makePipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, into[0], 0)
    posix_spawn_file_actions_adddup2(&actions, from[1], 1)
    child = try Self.spawn(["env"] + variables + [script, "run", directory] + settings, &actions)
    close(into[0])
    close(from[1])
    input = into[1]
    var chunk = [UInt8](repeating: 0, count: 4096)
    guard read(from[0], &chunk, chunk.count) > 0 else {
      Self.reap(child)
      throw Failure(description: "the server does not start")
    }
  }

  /// Stops all processes of the server, as a machine that hangs; the kernel still accepts clients.
  package func pause() throws { try signal(SIGSTOP) }

  package func resume() throws { try signal(SIGCONT) }

  private func signal(_ signal: CInt) throws {
    let main = try Self.output(of: ["head", "-1", "\(directory)/data/postmaster.pid"])
    guard let main = pid_t(main.filter(\.isNumber)) else { throw Failure(description: main) }
    let others = try? Self.output(of: ["pgrep", "-P", "\(main)"])
    for pid in [main] + (others ?? "").split(separator: "\n").compactMap({ pid_t($0) }) {
      kill(pid, signal)
    }
  }

  deinit {
    close(input)
    Self.reap(child)
  }

  /// Waits for a process to end.
  ///
  /// One that has ended and is not waited for would keep tests of exits from ever ending.
  private static func reap(_ child: pid_t) {
    var status: CInt = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
  }

  private static func spawn(
    _ words: [String], _ actions: inout posix_spawn_file_actions_t
  ) throws -> pid_t {
    var argv = words.map { $0.withCString { strdup($0) } } + [nil]
    defer { for text in argv { free(text) } }
    var pid: pid_t = 0
    guard posix_spawnp(&pid, words[0], &actions, nil, &argv, environ) == 0 else {
      throw Failure(description: "no \(words[0])")
    }
    return pid
  }

  /// Runs SQL as the superuser, and returns the output without a frame.
  @discardableResult
  package func sql(_ text: String, on database: String = "postgres") throws -> String {
    let command = ["psql", "-h", directory, "-U", "postgres", "-d", database, "-AtXq", "-c", text]
    return try Self.output(of: command)
  }

  /// Runs SQL as the superuser on another connection, and does not wait for its end.
  package func begin(_ text: String, on database: String) throws {
    let command = ["psql", "-h", directory, "-U", "postgres", "-d", database, "-Xqc", text]
    _ = try Self.output(of: ["sh", "-c", #""$@" >/dev/null 2>&1 </dev/null &"#, "sh"] + command)
  }

  private static func output(of words: [String]) throws -> String {
    let ends = makePipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    let pid = try spawn(words, &actions)
    close(ends[1])
    defer { close(ends[0]) }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = read(ends[0], &chunk, chunk.count), count > 0 {
      output += chunk[..<count]
    }
    var status: CInt = 0
    waitpid(pid, &status, 0)
    let text = String(decoding: output, as: UTF8.self)
    guard status == 0 else { throw Failure(description: text) }
    return text
  }

  /// Returns the connection string of a new, empty database.
  package func makeDatabase() throws -> String {
    let name = "t\(UInt32.random(in: .min ... .max))"
    try sql("CREATE DATABASE \(name)")
    return "host=\(directory) user=postgres dbname=\(name)"
  }
}
