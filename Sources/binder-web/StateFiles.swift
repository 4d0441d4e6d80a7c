import EventLoop
import Glibc

/// The files of a program that serves its own user: one set for each daemon.
struct StateFiles {
  /// The socket that prints another address.
  let socket: String

  /// The sessions of browsers.
  let sessions: String

  /// Creates the directory for this user only.
  ///
  /// - Parameter daemon: The path of the daemon's socket.
  /// - Throws: ``StartFailure`` if other users could change files in it.
  init(of daemon: String) throws {
    let directory =
      Options.environment("XDG_RUNTIME_DIR").map { $0 + "/binder" }
      ?? (Options.environment("TMPDIR") ?? "/tmp") + "/binder-\(getuid())"
    mkdir(directory, 0o700)
    var status = stat()
    guard lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw StartFailure(description: "cannot create the directory \(directory)")
    }
    let name = directory + "/web-" + String(Self.hash(daemon), radix: 16)
    if let fault = try UnsafeDirectory(of: name) { throw StartFailure(description: "\(fault)") }
    (socket, sessions) = (name + ".sock", name + ".sessions")
  }

  /// Returns the FNV-1a hash of a path (<http://www.isthe.com/chongo/tech/comp/fnv/>).
  private static func hash(_ path: String) -> UInt64 {
    path.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
