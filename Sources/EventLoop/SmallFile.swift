internal import Glibc

/// Reads small system files as a whole.
package enum SmallFile {
  /// Size in bytes at which reading stops.
  private static let maxBytes = 256 * 1024

  /// Returns the text of a file; empty if it cannot be read.
  package static func text(_ path: String) -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < maxBytes {
      let count = read(file, &chunk, chunk.count)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
