import Glibc
import Journal
import JournalSQLite

/// A file of lines, read or written whole.
final class LineFile {
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  /// The number of the line that was read last.
  private(set) var line = 0

  /// Bytes that were read, and that there are; 0 when that is not known.
  private(set) var position: UInt64 = 0
  private(set) var size: UInt64 = 0

  private let file: CInt
  private let path: String
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// Where it is put when it is whole; `nil` for what is no file.
  private let place: JournalPlace?
  private let isForced: Bool

  private static let chunk = 1 << 20

  /// Opens a file, `-` for the standard input.
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

  /// Makes a file, `-` for the standard output; it is there whole or not at all.
  ///
  /// - Parameter isForced: Whether it may take the place of another, which is kept as `path.old`.
  init(
    writing path: String, besides source: String, isForced: Bool
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
      let place = try JournalPlace(at: path, besides: source)
      self.place = place
      unlink(place.partial)
      file = open(place.partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    guard file >= 0 else { throw Self.fault(path) }
  }

  deinit {
    close(file)
    // It is there no more when it was put where it is to be.
    if let place { unlink(place.partial) }
  }

  private static func fault(_ path: String) -> Fault {
    Fault(description: "\(path): \(String(cString: strerror(errno)))")
  }

  /// The next line, without its LF; `nil` at the end.
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

  /// Where the one is whose place was taken; `nil` when there was none.
  var replaced: String? { place?.replaced }

  func write(_ text: String) throws(JournalError) {
    buffer += text.utf8
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.chunk { try flush() }
  }

  /// Hands everything to the disk, and puts it where it is to be.
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
