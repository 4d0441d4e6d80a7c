import Glibc
import TestSupport
import Testing

/// A daemon process with its own socket and journal, by default in a new directory.
final class DaemonProcess {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let directory: String

  /// The directory, removed with this object; `nil` if the directory is not its own.
  private let ownDirectory: TemporaryDirectory?
  private(set) var pid: pid_t = 0
  private var isRunning = false
  private let wrapper: [String]
  private let program: String

  var socket: String { directory + "/bus.sock" }
  var journal: String { directory + "/journal.db" }
  var log: String { Files.text(of: directory + "/log") }

  /// Starts a daemon and waits until it accepts clients.
  ///
  /// - Parameters:
  ///   - arguments: The arguments besides those for socket and journal.
  ///   - wrapper: A command that starts it, for example a shell that lowers a limit before.
  ///   - directory: The directory of its files; `nil` for a new one.
  ///   - program: The path of the program.
  init(
    _ arguments: [String] = [], wrapper: [String] = [], in directory: String? = nil,
    program: String = DaemonProcess.executable, waits: Bool = true
  ) throws {
    (self.wrapper, self.program) = (wrapper, program)
    ownDirectory = directory == nil ? try TemporaryDirectory() : nil
    self.directory = directory ?? ownDirectory?.path ?? ""
    try start(arguments, waits: waits)
  }

  deinit {
    if isRunning { end(SIGKILL) }
  }

  /// The path of the binderd built with these tests.
  static let executable = programs + "/binderd"

  /// The path of a daemon with another name.
  static let other = programs + "/otherd"

  static let programs: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let name = String(decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)])
  }()

  /// The number of files that this process and its daemons may open, raised for crowds of clients.
  static let descriptorLimit: rlim_t = {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = min(max(limit.rlim_cur, 16_384), limit.rlim_max)
    setrlimit(resource, &limit)
    return limit.rlim_cur
  }()

  func start(_ arguments: [String] = [], waits: Bool = true) throws {
    _ = Self.descriptorLimit
    // Ignore the configuration of this machine.
    let configuration = arguments.contains("--config") ? [] : ["--config", "/dev/null"]
    let words =
      wrapper + [program, "--socket", socket, "--journal", journal] + configuration
      + arguments
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(
      &actions, 2, directory + "/log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    var argv = words.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    guard posix_spawnp(&pid, words[0], &actions, nil, &argv, environ) == 0 else {
      throw Failure(description: "\(words[0]) does not start")
    }
    isRunning = true
    guard waits else { return }
    let isListening = try holds {
      if let probe = try? TestSocket(socket) {
        probe.close()
        return true
      }
      var status: CInt = 0
      if waitpid(pid, &status, WNOHANG) == pid {
        isRunning = false
        throw Failure(description: "ended at once: \(log)")
      }
      return false
    }
    if !isListening { throw Failure(description: "does not listen: \(log)") }
  }

  /// Waits until a process listens at a socket, for daemons with another socket.
  func waitUntilListening(at path: String) -> Bool {
    holds { (try? TestSocket(path)) != nil }
  }

  /// Sends a signal and waits for the end.
  ///
  /// - Returns: The exit code, or the negated number of the signal that ended it.
  @discardableResult
  func end(_ signal: CInt = SIGTERM) -> CInt {
    kill(pid, signal)
    return waitForEnd()
  }

  /// Waits for the end; a process that does not end in time fails the test and is killed.
  @discardableResult
  func waitForEnd() -> CInt {
    var status: CInt = 0
    var waited = 0
    while waitpid(pid, &status, WNOHANG) == 0 {
      waited += 1
      if waited == Self.endMilliseconds {
        Issue.record("the daemon does not end: \(log.suffix(500))")
        kill(pid, SIGKILL)
      }
      usleep(1_000)
    }
    isRunning = false
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }

  /// The maximum wait for the end of a process, in milliseconds.
  private static let endMilliseconds = 60_000

  /// Kills it and starts it again on the same journal.
  func killAndStart(_ arguments: [String] = []) throws {
    end(SIGKILL)
    try start(arguments)
  }

  /// Waits until the log contains a text.
  func logs(_ text: String) -> Bool { holds { log.contains(text) } }

  // MARK: Resources

  /// Whether tests and daemon run with a sanitizer, so that memory figures are meaningless.
  static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

  /// The resident memory in bytes.
  var residentBytes: Int {
    let pages = Files.text(of: "/proc/\(pid)/statm").split(separator: " ").dropFirst().first
    return (pages.flatMap { Int($0) } ?? 0) * 4096
  }

  /// The number of open descriptors.
  var descriptors: Int { Files.names(in: "/proc/\(pid)/fd").count }

  /// The number of open sockets.
  ///
  /// Files are opened when they are first needed, and stay open.
  var sockets: Int {
    Files.names(in: "/proc/\(pid)/fd").count { name in
      var target = [CChar](repeating: 0, count: 64)
      let count = readlink("/proc/\(pid)/fd/\(name)", &target, target.count)
      let bytes = target[..<max(0, count)].map { UInt8(bitPattern: $0) }
      return bytes.starts(with: "socket:".utf8)
    }
  }

  /// Waits for a third of a second in which the daemon does next to nothing.
  ///
  /// A loop that spins has none. The work of other threads ends some time.
  func comesToRest() -> Bool {
    holds {
      let before = processorSeconds
      usleep(300_000)
      return processorSeconds - before < 0.05
    }
  }

  /// The processor time of all threads, in seconds.
  var processorSeconds: Double {
    let fields = Files.text(of: "/proc/\(pid)/stat").split(separator: " ")
    guard fields.count > 14, let user = Double(fields[13]), let system = Double(fields[14]) else {
      return 0
    }
    return (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
  }
}
