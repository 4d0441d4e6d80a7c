internal import Glibc

/// A binderd under load; it can be started, stopped and killed.
///
/// With a service manager, its clients keep their connections when it is killed or restarted.
package final class LoadedDaemon {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  private let executable: String
  private let directory: String
  private var pid: pid_t = 0

  /// The program of a service manager that stores descriptors; `nil` for none.
  private let manager: String?

  package var socket: String { directory + "/bus.sock" }
  package var journal: String { directory + "/journal.db" }
  package var log: String { directory + "/log" }

  /// Starts it and waits until it accepts clients.
  ///
  /// - Parameters:
  ///   - directory: The directory of its files.
  ///   - manager: The program of a service manager; `nil` for none.
  package init(
    _ executable: String, in directory: String, under manager: String? = nil
  ) throws(Failure) {
    self.executable = executable
    self.directory = directory
    self.manager = manager
    try start()
  }

  deinit {
    if pid > 0 { end(SIGKILL) }
  }

  package func start() throws(Failure) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    var words: [String] = [executable, "--socket", socket, "--journal", journal]
    if let manager {
      words = [manager, socket, "--store", "1000", "--"] + words
      posix_spawn_file_actions_addopen(&actions, 1, steps, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    guard posix_spawn(&pid, words[0], &actions, nil, &argv, environ) == 0 else {
      throw Failure(description: "\(words[0]) does not start")
    }
    let start = monotonicMilliseconds()
    while monotonicMilliseconds() - start < 60_000 {
      if let probe = LoadSocket(socket) {
        probe.close()
        return
      }
      var status: CInt = 0
      if waitpid(pid, &status, WNOHANG) == pid {
        pid = 0
        throw Failure(description: "binderd has ended at once; see \(log)")
      }
      waitFor([], milliseconds: 5)
    }
    throw Failure(description: "binderd does not listen; see \(log)")
  }

  /// The steps of the service manager.
  private var steps: String { directory + "/steps" }

  /// Lets the daemon end while its clients keep their connections, and waits for the next one.
  ///
  /// - Parameter isKill: Whether to kill it, instead of an orderly restart.
  package func restartUnderManager(isKill: Bool) throws(Failure) {
    let count = lines(of: steps, beginningWith: "ready").count
    if isKill {
      let daemon = lines(of: steps, beginningWith: "started").last?.split(separator: " ").last
      if let daemon = daemon.flatMap({ pid_t($0) }) { kill(daemon, SIGKILL) }
    } else {
      signal(SIGUSR1)
    }
    let start = monotonicMilliseconds()
    while monotonicMilliseconds() - start < 60_000 {
      if lines(of: steps, beginningWith: "ready").count > count { return }
      waitFor([], milliseconds: 1)
    }
    throw Failure(description: "binderd does not come back; see \(log)")
  }

  private func lines(of path: String, beginningWith word: String) -> [String] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var found: [String] = []
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.hasPrefix(word) { found.append(text) }
    }
    return found
  }

  /// Verifies the whole journal while the daemon runs.
  ///
  /// - Returns: The exit code.
  package func verify() -> CInt {
    let words: [String] = [executable, "--verify", "--journal", journal]
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var verifier: pid_t = 0
    guard posix_spawn(&verifier, executable, &actions, nil, &argv, environ) == 0 else { return -1 }
    var status: CInt = 0
    waitpid(verifier, &status, 0)
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  /// Sends a signal.
  package func signal(_ signal: CInt) {
    if pid > 0 { kill(pid, signal) }
  }

  /// Sends a signal and waits for the end.
  ///
  /// - Returns: The exit code, or the negated number of the signal that ended it.
  @discardableResult
  package func end(_ signal: CInt) -> CInt {
    guard pid > 0 else { return 0 }
    kill(pid, signal)
    var status: CInt = 0
    waitpid(pid, &status, 0)
    pid = 0
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  /// The resident memory in KiB.
  package var residentKibibytes: Int {
    let file = fopen("/proc/\(pid)/statm", "r")
    guard let file else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, CInt(line.count), file) != nil else { return 0 }
    let text = String(
      decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
  }
}
