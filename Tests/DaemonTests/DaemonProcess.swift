import Glibc

/// A binderd of its own, as a user would start it, with a socket and a journal in a new directory.
final class DaemonProcess {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let directory: String
  private(set) var pid: pid_t = 0
  private var isRunning = false
  private let ownsDirectory: Bool
  private let wrapper: [String]

  var socket: String { directory + "/bus.sock" }
  var journal: String { directory + "/journal.db" }
  var log: String { text(of: directory + "/log") }

  /// Starts a daemon and waits until it takes clients.
  ///
  /// - Parameters:
  ///   - arguments: Beside those for the socket and the journal.
  ///   - wrapper: What starts it, for example a shell that lowers a limit before.
  ///   - directory: Where its files are; `nil` for a new one.
  init(
    _ arguments: [String] = [], wrapper: [String] = [], in directory: String? = nil,
    waits: Bool = true
  ) throws {
    self.wrapper = wrapper
    if let directory {
      self.directory = directory
      ownsDirectory = false
    } else {
      var template = Array("/tmp/binderd-test.XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw Failure(description: "mkdtemp") }
      self.directory = String(
        decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      ownsDirectory = true
    }
    try start(arguments, waits: waits)
  }

  deinit {
    if isRunning {
      kill(pid, SIGKILL)
      var status: CInt = 0
      waitpid(pid, &status, 0)
    }
    if ownsDirectory { remove(directory) }
  }

  /// The binderd that was built beside these tests.
  static let executable: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let name = String(decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(name[..<(name.lastIndex(of: "/") ?? name.startIndex)]) + "/binderd"
  }()

  func start(_ arguments: [String] = [], waits: Bool = true) throws {
    let words =
      wrapper + [Self.executable, "--socket", socket, "--journal", journal] + arguments
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
    for _ in 0..<2_000 {
      if let probe = try? TestSocket(socket) {
        probe.close()
        return
      }
      var status: CInt = 0
      if waitpid(pid, &status, WNOHANG) == pid {
        isRunning = false
        throw Failure(description: "ended at once: \(log)")
      }
      usleep(5_000)
    }
    throw Failure(description: "does not listen: \(log)")
  }

  /// Sends a signal and waits for the end.
  ///
  /// - Returns: The exit code, or the signal that has ended it as a negative number.
  @discardableResult
  func end(_ signal: CInt = SIGTERM) -> CInt {
    kill(pid, signal)
    return waitForEnd()
  }

  @discardableResult
  func waitForEnd() -> CInt {
    var status: CInt = 0
    waitpid(pid, &status, 0)
    isRunning = false
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : -signal
  }

  /// Kills it as a power failure of the process would, and starts it again on the same journal.
  func killAndStart(_ arguments: [String] = []) throws {
    end(SIGKILL)
    try start(arguments)
  }

  // MARK: What it costs

  /// Resident memory in bytes.
  var residentBytes: Int {
    let pages = text(of: "/proc/\(pid)/statm").split(separator: " ").dropFirst().first
    return (pages.flatMap { Int($0) } ?? 0) * 4096
  }

  /// Open descriptors.
  var descriptors: Int { names(in: "/proc/\(pid)/fd").count }

  /// Processor time of all threads, in seconds.
  var processorSeconds: Double {
    let fields = text(of: "/proc/\(pid)/stat").split(separator: " ")
    guard fields.count > 14, let user = Double(fields[13]), let system = Double(fields[14]) else {
      return 0
    }
    return (user + system) / Double(sysconf(CInt(_SC_CLK_TCK)))
  }
}

/// The text of a file; empty when there is none.
func text(of path: String) -> String {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { return "" }
  defer { close(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65536)
  while case let count = read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}

/// The names in a directory.
func names(in path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// Removes a directory of files.
private func remove(_ path: String) {
  for name in names(in: path) where unlink(path + "/" + name) != 0 {
    remove(path + "/" + name)
  }
  rmdir(path)
}
