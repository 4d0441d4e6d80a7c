internal import Glibc

/// File access for tests.
package enum Files {
  /// Returns the text of a file; empty if there is none.
  package static func text(of path: String) -> String {
    String(decoding: bytes(of: path), as: UTF8.self)
  }

  /// Returns the bytes of a file; empty if there is none.
  package static func bytes(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
    return bytes
  }

  /// Creates or overwrites a file.
  package static func write(_ text: String, to path: String) { write(Array(text.utf8), to: path) }

  /// Creates or overwrites a file.
  package static func write(_ bytes: [UInt8], to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(file) }
    _ = Glibc.write(file, bytes, bytes.count)
  }

  /// Returns the size of a file in bytes; 0 if there is none.
  package static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The paths of all files below a directory, relative to it.
  package static func paths(below path: String) -> [String] {
    names(in: path).flatMap { name in
      let inner = paths(below: "\(path)/\(name)")
      return inner.isEmpty ? [name] : inner.map { "\(name)/\($0)" }
    }
  }

  /// Returns the names in a directory, sorted.
  package static func names(in path: String) -> [String] {
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

  /// Removes a directory and its contents.
  package static func remove(_ path: String) {
    for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
