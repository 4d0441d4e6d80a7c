internal import CPosix
internal import Glibc

/// Writes lines to standard error and never waits for whoever reads them.
package final class Log {
  /// Priorities of `syslog(3)`.
  package enum Priority: Int {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
  }

  private let isJournal: Bool

  /// Lines that nobody has taken.
  private var dropped = 0

  /// - Parameter isJournal: Whether `<N>` before a line is its priority; else the time and a word
  ///   for people stand there.
  package init(isJournal: Bool) {
    self.isJournal = isJournal
  }

  /// Writes a line.
  ///
  /// What comes from clients is written with `\x` escapes, so that it can do nothing to a terminal.
  package func write(_ priority: Priority, _ text: String) {
    if dropped > 0, put(.warning, "\(dropped) lines of the log were dropped") { dropped = 0 }
    if !put(priority, text) { dropped += 1 }
  }

  private func put(_ priority: Priority, _ text: String) -> Bool {
    let head = isJournal ? "<\(priority.rawValue)>" : "\(Self.time()) \(priority): "
    let line = head + Self.escaped(text) + "\n"
    return cposix_write_now(STDERR_FILENO, line, line.utf8.count) > 0
  }

  private static func time() -> String {
    var now = time_t(Glibc.time(nil))
    var local = tm()
    localtime_r(&now, &local)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%H:%M:%S", &local)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.reduce(into: "") { result, scalar in
      if isControl(scalar) {
        result += "\\x" + String(scalar.value, radix: 16)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
  }
}
