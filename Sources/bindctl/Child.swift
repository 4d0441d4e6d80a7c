import BinderClient
import CSupport
import Glibc
import Wire

extension Context {
  /// The path of the daemon program.
  var daemonProgram: String { program(beside: daemon.text) }
}

/// Returns the path of a program in the same directory as bindctl; its name if it is not there, to
/// be searched on the PATH.
func program(beside name: String) -> String {
  let own = String(cString: cposix_program())
  let beside = String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/" + name
  return access(beside, X_OK) == 0 ? beside : name
}

/// A child process.
struct Child {
  let pid: pid_t

  /// The value of ``ProcessTable/mark`` in a child with its own process group, and in all that it starts.
  let mark: String

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - words: The program and its arguments; without a slash it is searched on the PATH.
  ///   - environment: Variables in addition to those of this process.
  ///   - output: The file for its stderr; `nil` to inherit.
  ///   - descriptor: The descriptor for its stdout; `nil` to inherit.
  ///   - errors: The descriptor for its stderr; `nil` to inherit.
  ///   - input: The descriptor for its stdin; `nil` to inherit.
  ///   - isApart: Whether it gets its own process group, so that Ctrl-C does not reach it.
  ///   - mark: The mark of a command that is apart.
  /// - Throws: ``Failure`` with exit code 127 or 126, as in shells.
  init(
    _ words: [String], environment: [String: String] = [:], errorsTo output: String? = nil,
    printingTo descriptor: CInt? = nil, errorsInto errors: CInt? = nil,
    readingFrom input: CInt? = nil, isApart: Bool = false, mark: String = newCommandID()
  ) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    let flags = POSIX_SPAWN_SETSIGMASK | (isApart ? POSIX_SPAWN_SETPGROUP : 0)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let output {
      posix_spawn_file_actions_addopen(&actions, 2, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    if let descriptor { posix_spawn_file_actions_adddup2(&actions, descriptor, 1) }
    if let errors { posix_spawn_file_actions_adddup2(&actions, errors, 2) }
    self.mark = mark
    var additional = environment
    if isApart { additional[ProcessTable.mark] = mark }
    var variables = Self.variables(adding: additional)
    defer { for variable in variables { free(variable) } }
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    let status = posix_spawnp(&pid, words[0], &actions, &attributes, &arguments, &variables)
    guard status == 0 else {
      throw Failure(
        "'\(words[0])' cannot be run: \(String(cString: strerror(status)))", .init(spawn: status))
    }
    self.pid = pid
  }

  /// Returns the environment of a child, which the caller frees.
  private static func variables(
    adding environment: [String: String]
  ) -> [UnsafeMutablePointer<CChar>?] {
    var variables: [UnsafeMutablePointer<CChar>?] = []
    var next: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
    while let variable = next?.pointee {
      let name = String(String(cString: variable).prefix { $0 != "=" })
      if environment[name] == nil { variables.append(strdup(variable)) }
      next = next?.successor()
    }
    for (name, value) in environment where obstacle(to: value) == nil {
      variables.append(strdup("\(name)=\(value)"))
    }
    variables.append(nil)
    return variables
  }

  /// The longest value of an additional variable, in bytes.
  static let maxVariable = 32 << 10

  /// Returns a sentence for each variable that a child does not get.
  static func unset(of environment: [String: String]) -> [String] {
    environment.compactMap { name, value in
      obstacle(to: value).map { "\(name) is not set for the command: \($0); its stdin has it" }
    }.sorted()
  }

  /// Returns why a text cannot be the value of a variable; `nil` if it can.
  ///
  /// The kernel runs no program with a much longer one, and a NUL would end it. Programs find such a
  /// value in their stdin.
  private static func obstacle(to value: String) -> String? {
    if value.utf8.contains(0) { return "the value has a NUL character" }
    return value.utf8.count > maxVariable ? "the value is longer than 32 KiB" : nil
  }

  /// Runs a program and returns its exit code and output.
  ///
  /// - Parameters:
  ///   - environment: Variables in addition to those of this process.
  ///   - errors: The file for its stderr; `nil` to inherit.
  static func output(
    of words: [String], environment: [String: String] = [:], errorsTo errors: String? = nil
  ) throws -> (code: CInt, text: String) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw Failure("cannot create a pipe: \(String(cString: strerror(errno)))")
    }
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    defer { close(ends[0]) }
    let started = Result {
      try Child(words, environment: environment, errorsTo: errors, printingTo: ends[1])
    }
    close(ends[1])
    let child = try started.get()
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(ends[0], &chunk, chunk.count)
      if count > 0 { bytes += chunk[..<count] } else if count == 0 || errno != EINTR { break }
    }
    return (child.wait(), String(decoding: bytes, as: UTF8.self))
  }

  /// Returns the predicate of a sentence about a program that has ended.
  static func end(_ code: CInt) -> String {
    code > 128 ? "been ended by signal \(code - 128)" : "exited with \(code)"
  }

  /// Waits until it ends.
  ///
  /// - Returns: Its exit code, or 128 plus the signal that ended it.
  func wait() -> CInt {
    var status: CInt = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return Self.code(status)
  }

  /// Returns the same code as ``wait()`` without waiting; `nil` while it runs.
  func end() -> CInt? {
    var status: CInt = 0
    return waitpid(pid, &status, WNOHANG) == pid ? Self.code(status) : nil
  }

  /// Creates an unnamed file with a text, for use as stdin.
  ///
  /// Unlike a pipe it holds a text of any length, whether or not it is read.
  ///
  /// - Returns: Its descriptor; the caller closes it.
  static func input(_ text: String) throws -> CInt {
    let parent = variable("TMPDIR") ?? "/tmp"
    var template = Array((parent + "/bindctl.XXXXXX").utf8CString)
    let file = mkstemp(&template)
    guard file >= 0 else {
      throw Failure("cannot create a file in \(parent): \(String(cString: strerror(errno)))")
    }
    unlink(template)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    bindctl.write(text, to: file)
    lseek(file, 0, SEEK_SET)
    return file
  }

  /// Passes a signal to the program, which has its own process group and was not collected yet, and to
  /// all that it has started.
  ///
  /// Without `/proc` only the group gets it.
  func signal(_ number: CInt) {
    send(number, toGroup: pid) { rest }
  }

  /// The programs that it has started and that still run; of an ended one those that have kept its mark.
  var rest: [ProcessTable.Entry] { ProcessTable()?.family(of: pid, mark: mark) ?? [] }

  /// Returns the exit code of a status of `waitpid`, or 128 plus the signal.
  static func code(_ status: CInt) -> CInt {
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}

/// Blocked signals that the program waits for.
///
/// Signals that the parent ignores stay ignored, as nohup(1) promises to the command.
struct SignalWait {
  private var signals = sigset_t()

  init(_ numbers: [CInt]) {
    sigemptyset(&signals)
    // A blocked signal is delivered to who waits for it even if it is ignored.
    for number in numbers where cposix_is_ignored(number) == 0 { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits for the next signal.
  func next() -> CInt {
    var (signals, number) = (signals, CInt(0))
    while sigwait(&signals, &number) != 0 {}
    return number
  }

  /// Waits for the next signal; returns `nil` if none arrives in time.
  func next(withinMilliseconds milliseconds: Int) -> CInt? {
    var signals = signals
    var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
    let number = sigtimedwait(&signals, nil, &time)
    return number > 0 ? number : nil
  }

  /// Returns a descriptor that is readable while a signal is pending; it is never closed.
  func descriptor() throws -> CInt {
    var signals = signals
    let descriptor = cposix_signal_descriptor(&signals)
    guard descriptor >= 0 else {
      throw Failure("cannot watch for signals: \(String(cString: strerror(-descriptor)))")
    }
    return descriptor
  }

  /// Unblocks the signals; pending ones take effect now.
  func end() {
    var signals = signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
