import Configuration
import Glibc

/// A file that controls the daemon: owned by root or by the daemon's user, and not world-writable.
struct TrustedFile {
  /// The maximum size in bytes.
  private static let maxBytes = 1 << 20

  let path: String

  /// Whether it is a device, such as `/dev/null`.
  var isDevice: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
  }

  func read() throws(ConfigurationFaults) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fault(String(cString: strerror(errno))) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw fault("it is a directory") }
    if status.st_mode & S_IFMT == S_IFREG { try checkOwner(status) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fault(String(cString: strerror(errno))) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= Self.maxBytes else {
        throw fault("it has more than \(Self.maxBytes) bytes")
      }
    }
  }

  /// Checks owner and mode, because the file grants permissions.
  private func checkOwner(_ status: stat) throws(ConfigurationFaults) {
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw fault("it belongs to user \(status.st_uid), not to root or to the daemon's own")
    }
    guard status.st_mode & S_IWOTH == 0 else { throw fault("everybody may write it") }
  }

  func fault(_ message: String) -> ConfigurationFaults {
    ConfigurationFaults([ConfigurationFault(file: path, message: message)])
  }
}
