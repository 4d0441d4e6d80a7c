internal import Glibc
internal import JSON
internal import Wire

/// Keeps what goes over a socket in a file, a line each: `-> ` and what was sent, `<- ` and what came.
///
/// For whoever wants to see what a program and the daemon say to each other.
final class LineTrace {
  private let file: CInt
  private var outgoing = LineSplitter(limit: longest)
  private var incoming = LineSplitter(limit: longest)

  private static let longest = 32 << 20

  /// - Returns: `nil` when `$BINDER_TRACE` names no file, or one that cannot be written.
  init?() {
    guard let path = getenv("BINDER_TRACE"), path.pointee != 0 else { return nil }
    // Appended to, so that programs that run beside each other may share it.
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
