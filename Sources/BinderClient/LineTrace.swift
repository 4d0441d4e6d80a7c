internal import Glibc
internal import JSON
internal import Wire

/// Logs the lines of a socket to a file: `-> ` and each sent line, `<- ` and each received line.
///
/// Use it to debug the messages between a program and the daemon.
final class LineTrace {
  private let file: CInt
  private var outgoing = LineSplitter(limit: longest)
  private var incoming = LineSplitter(limit: longest)

  private static let longest = 32 << 20

  /// - Returns: `nil` if `$BINDER_TRACE` is not set or its file cannot be opened.
  init?() {
    guard let path = getenv("BINDER_TRACE"), path.pointee != 0 else { return nil }
    // Opened for appending so that concurrent programs can share the file.
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { return nil }
  }

  deinit {
    close(file)
  }

  func sent(_ bytes: Span<UInt8>) {
    outgoing.feed(bytes) { line in write("-> ", line) }
  }

  func received(_ bytes: Span<UInt8>) {
    incoming.feed(bytes) { line in write("<- ", line) }
  }

  private func write(_ mark: StaticString, _ line: Span<UInt8>?) -> LineSplitter.Verdict {
    var buffer = ByteBuffer()
    buffer.append(mark)
    if let line { buffer.append(line) } else { buffer.append("(a line over 32 MiB)") }
    buffer.append(UInt8(ascii: "\n"))
    buffer.span.withUnsafeBufferPointer { bytes in
      _ = Glibc.write(file, bytes.baseAddress, bytes.count)
    }
    return .done
  }
}
