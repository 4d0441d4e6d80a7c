internal import CSupport
internal import Glibc

/// Writes lines to standard error without ever blocking.
///
/// A line that cannot be written at once is dropped and counted.
package final class Log {
  /// Priorities of `syslog(3)`.
  package enum Priority: Int {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
  }

  /// The maximum text of a line, in bytes; longer text is cut.
  ///
  /// With the prefix it stays below the atomic write size of a pipe (`PIPE_BUF`).
  package static let maxTextBytes = 2_048

  private let isJournal: Bool
  private let descriptor: CInt

  /// The descriptor that this object has opened; `nil` if it writes to the caller's descriptor.
  private let own: CInt?

  /// The number of lines dropped since the last report.
  private var dropped = 0

  /// - Parameters:
  ///   - isJournal: Whether each line starts with its priority as `<N>`; otherwise with the time
  ///     and a word.
  ///   - descriptor: The output; the caller keeps ownership.
  package init(isJournal: Bool, to descriptor: CInt = STDERR_FILENO) {
    self.isJournal = isJournal
    self.descriptor = cposix_open_log(descriptor)
    own = self.descriptor == descriptor ? nil : self.descriptor
  }

  deinit {
    if let own { close(own) }
  }

  /// Writes a line.
  ///
  /// Escapes control characters, bidirectional marks and other invisible characters. A client can
  /// neither control a terminal nor forge a line.
  package func write(_ priority: Priority, _ text: String) {
    if dropped > 0, put(.warning, "\(dropped) lines of the log were dropped") { dropped = 0 }
    if !put(priority, text) { dropped += 1 }
  }

  private func put(_ priority: Priority, _ text: String) -> Bool {
    let head = isJournal ? "<\(priority.rawValue)>" : "\(Self.time()) \(priority): "
    let line = head + Self.shown(text) + "\n"
    return cposix_write_now(descriptor, line, line.utf8.count) > 0
  }

  private static func time() -> String {
    var now = time_t(Glibc.time(nil))
    var local = tm()
    localtime_r(&now, &local)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%H:%M:%S", &local)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the text with escapes, cut to the maximum length.
  private static func shown(_ text: String) -> String {
    if text.utf8.count <= maxTextBytes, !text.unicodeScalars.contains(where: isHidden) {
      return text
    }
    var shown = ""
    for scalar in text.unicodeScalars {
      let piece = isHidden(scalar) ? escape(scalar) : String(Character(scalar))
      guard shown.utf8.count + piece.utf8.count <= maxTextBytes else { return shown + "…" }
      shown += piece
    }
    return shown
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return scalar.value < 0x100
      ? "\\x" + (digits.count < 2 ? "0" : "") + digits : "\\u{\(digits)}"
  }

  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x20 else { return true }
    guard scalar.value >= 0x7F else { return false }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: true
    default: false
    }
  }
}
