import Glibc
import TestSupport
import Testing

/// Runs a program and returns its output.
///
/// - Parameters:
///   - code: The expected exit code.
///   - isWithErrors: Whether to return standard error too.
func run(_ words: [String], _ code: CInt = 0, isWithErrors: Bool = false) throws -> String {
  let ends = makePipe()
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
  if isWithErrors { posix_spawn_file_actions_adddup2(&actions, ends[1], 2) }
  var argv = words.map { strdup($0) } + [nil]
  defer { argv.forEach { free($0) } }
  var pid: pid_t = 0
  let status = posix_spawnp(&pid, words[0], &actions, nil, &argv, environ)
  close(ends[1])
  defer { close(ends[0]) }
  guard status == 0 else { throw DaemonProcess.Failure(description: "no \(words[0])") }
  var output: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while case let count = read(ends[0], &chunk, chunk.count), count > 0 { output += chunk[..<count] }
  var ended: CInt = 0
  waitpid(pid, &ended, 0)
  let text = String(decoding: output, as: UTF8.self)
  guard (ended >> 8) & 0xFF == code, ended & 0x7F == 0 else {
    throw DaemonProcess.Failure(description: "\(words.joined(separator: " ")): \(ended) \(text)")
  }
  return text
}

/// Returns whether a program is installed.
func isThere(_ program: String) -> Bool {
  (try? run(["sh", "-c", "command -v \(program)"])) != nil
}

/// A small temporary file system; it is mounted only with root.
final class TemporaryMount {
  /// Whether a copy-on-write file system is possible here.
  static let canCopyOnWrite = (try? TemporaryMount(copyOnWriteMebibytes: 128))?.isMounted == true

  private let directory: TemporaryDirectory
  private(set) var isMounted = false

  let path: String

  /// Mounts a copy-on-write file system.
  init(copyOnWriteMebibytes size: Int) throws {
    directory = try TemporaryDirectory()
    let image = directory.path + "/image"
    let script = """
      truncate -s \(size)M \(image) && mkfs.btrfs -q \(image) && mkdir \(directory.path)/mount &&
      mount -o loop \(image) \(directory.path)/mount
      """
    isMounted = (try? run(["sh", "-c", script], isWithErrors: true)) != nil
    path = directory.path + "/mount"
  }

  /// Mounts a file system in memory.
  init(kibibytes: Int) throws {
    directory = try TemporaryDirectory()
    path = directory.path
    isMounted =
      (try? run(
        ["mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k,mode=700", "tmpfs", directory.path]))
      != nil
  }

  func grow(toKibibytes size: Int) throws {
    _ = try run(["mount", "-o", "remount,size=\(size)k", path])
  }

  /// Refuses all writes from now on.
  func makeReadOnly() throws {
    _ = try run(["mount", "-o", "remount,ro", path])
  }

  deinit {
    if isMounted { _ = try? run(["umount", "-l", path]) }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test if a program is not installed.
  static func needs(_ program: String) -> Self {
    .enabled(if: isThere(program), "\(program) is not installed")
  }
}
