import Glibc
import Journal
import JournalSQLite
import Model

/// A file of lines, read or written as a whole.
final class LineFile {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// The number of the last line that was read.
  private(set) var line = 0

  /// The bytes read so far, and the size of the file; 0 if it is unknown.
  private(set) var position: UInt64 = 0
  private(set) var size: UInt64 = 0

  private let file: CInt
  private let path: String
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// The destination of a new file; `nil` for a device or a pipe, or when reading.
  private let place: JournalDestination?
  private let isForced: Bool

  private static let chunk = 1 << 20

  /// Opens a file for reading; `-` is the standard input.
  init(reading path: String) throws(Fault) {
    self.path = path
    (place, isForced) = (nil, false)
    file = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Self.fault(path) }
    var status = stat()
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      size = UInt64(status.st_size)
    }
  }

  /// Creates a file; `-` is the standard output.
  ///
  /// An interrupted write leaves no file.
  ///
  /// - Parameter isForced: Whether an existing file may be replaced; it is kept as `path.old`.
  init(
    writing path: String, besides source: String?, isForced: Bool
  ) throws {
    self.path = path
    self.isForced = isForced
    var status = stat()
    let isThere = path != "-" && stat(path, &status) == 0
    if isThere, !isForced {
      throw Fault(description: "\(path): \(String(cString: strerror(EEXIST))); --force replaces it")
    }
    if path == "-" || isThere && status.st_mode & S_IFMT != S_IFREG {
      place = nil
      file = path == "-" ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CLOEXEC)
    } else {
      let place = try JournalDestination(at: path, besides: source)
      self.place = place
      unlink(place.partial)
      file = open(place.partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard file >= 0 else { throw Self.fault(path) }
  }

  deinit {
    close(file)
    // Missing if it was already renamed into place.
    if let place { unlink(place.partial) }
  }

  private static func fault(_ path: String) -> Fault {
    Fault(description: "\(path): \(String(cString: strerror(errno)))")
  }

  /// Returns the next line, without its LF; `nil` at the end.
  func next() throws(Fault) -> String? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return try text(start..<end)
      }
      guard !isAtEnd else { break }
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      try fill()
    }
    guard start < buffer.count else { return nil }
    defer { start = buffer.count }
    return try text(start..<buffer.count)
  }

  private func text(_ range: Range<Int>) throws(Fault) -> String {
    line += 1
    guard let text = String(validating: buffer[range], as: UTF8.self) else {
      throw Fault(description: "\(path): line \(line): not UTF-8")
    }
    return text
  }

  private func fill() throws(Fault) {
    let count = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
    let read = buffer.withUnsafeMutableBytes { bytes in
      Glibc.read(file, bytes.baseAddress.map { $0 + count }, Self.chunk)
    }
    guard read >= 0 else { throw Self.fault(path) }
    buffer.removeLast(Self.chunk - read)
    position += UInt64(read)
    isAtEnd = read == 0
  }

  /// The path of the file that was replaced; `nil` if there was none.
  var replaced: String? { place?.replaced }

  func write(_ text: String) throws(JournalError) {
    buffer += text.utf8
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.chunk { try flush() }
  }

  /// Flushes everything to the disk, and moves the file into place.
  func finish() throws(JournalError) {
    try flush()
    guard fsync(file) == 0 || errno == EINVAL || errno == EROFS else {
      throw .unavailable(detail: Self.fault(path).description)
    }
    try place?.put(isForced: isForced, keepsAll: false)
  }

  private func flush() throws(JournalError) {
    var rest = buffer[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else {
        if count < 0, errno == EINTR { continue }
        throw .unavailable(detail: Self.fault(path).description)
      }
      rest = rest.dropFirst(count)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
