internal import CSupport
internal import Glibc

/// A kind of line that the systemd journal explains with an entry of its message catalog.
///
/// The values are message IDs. They are stable: `systemd/binderd.catalog` has the same ones.
package enum LogEvent: String, CaseIterable {
  case started = "7d0b0f5c4a0e4c0f9f5b1f2a6c3e8d11"
  case reloaded = "c41e7a9b5d2f4e68b0a3d6f81c9e7b33"
  case reloadFailed = "95f3d2b8c7e14a06b9d8e5f20a1c6b44"
  case refused = "e8a1c5d07b9f4362a4c8f1b3d5e79055"
  case slowRequest = "1c9d7e5b3f8a4c24b6e0d2a4f8c6b066"
  case journalRefuses = "b7e3f9a1c5d84d07a2b6c8e0f4d2a177"
  case journalFailed = "4fa8c2e6b0d94f18bd3a5c7e9f1b3d88"
  case stateFilling = "d3b5a7c9e1f04269b8d0f2a4c6e8f099"
  case internalError = "68c0e2a4d6f84b3aa1c3e5d7f9b1d3aa"
}

/// Writes lines to standard error, or to the systemd journal, without ever blocking.
///
/// A line that cannot be written at once is dropped and counted. If the systemd journal does not
/// listen, lines go to standard error.
package final class Log {
  /// Priorities of `syslog(3)`.
  package enum Priority: Int, CaseIterable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6

    /// Creates the priority with a name, for example `warning`; `nil` for another word.
    package init?(named name: String) {
      guard let found = Self.allCases.first(where: { "\($0)" == name }) else { return nil }
      self = found
    }
  }

  /// The least priority of the lines that are written.
  package var level = Priority.info

  /// The maximum text of a line, in bytes; longer text is cut.
  ///
  /// With the prefix it stays below the atomic write size of a pipe (`PIPE_BUF`).
  package static let maxTextBytes = 2_048

  private let isJournal: Bool

  /// The socket of the systemd journal; `nil` to write only to the descriptor.
  private let journalSocket: String?
  private let name: String
  private let descriptor: CInt

  /// The descriptor that this object has opened; `nil` if it writes to the caller's descriptor.
  private let own: CInt?

  /// The number of lines dropped since the last report.
  private var dropped = 0

  /// The number of lines dropped since the start.
  package private(set) var allDropped: UInt64 = 0

  /// - Parameters:
  ///   - isJournal: Whether each line starts with its priority as `<N>`; otherwise with the time
  ///     and a word.
  ///   - journalSocket: The socket of the systemd journal, which then gets each line with its
  ///     fields; `nil` to write only to the descriptor.
  ///   - name: The name of the program in the systemd journal.
  ///   - descriptor: The output; the caller keeps ownership.
  package init(
    isJournal: Bool, journalSocket: String? = nil, of name: String = "binderd",
    to descriptor: CInt = STDERR_FILENO
  ) {
    self.isJournal = isJournal
    self.name = name
    self.journalSocket = journalSocket
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
  ///
  /// - Parameters:
  ///   - event: The kind of the line; `nil` if it has none.
  ///   - fields: More fields for the systemd journal, named in capitals.
  package func write(
    _ priority: Priority, _ text: String, _ event: LogEvent? = nil,
    fields: [(name: String, value: String)] = []
  ) {
    guard priority.rawValue <= level.rawValue else { return }
    if dropped > 0, put(.warning, "\(dropped) lines of the log were dropped", nil, []) {
      dropped = 0
    }
    guard !put(priority, text, event, fields) else { return }
    dropped += 1
    allDropped += 1
  }

  private func put(
    _ priority: Priority, _ text: String, _ event: LogEvent?,
    _ fields: [(name: String, value: String)]
  ) -> Bool {
    if let journalSocket {
      var entry = "MESSAGE=\(Self.shown(text))\nPRIORITY=\(priority.rawValue)\n"
      entry += "SYSLOG_IDENTIFIER=\(name)\n"
      if let event { entry += "MESSAGE_ID=\(event.rawValue)\n" }
      for field in fields { entry += "\(field.name)=\(Self.shown(field.value))\n" }
      let status = cposix_send_message(journalSocket, entry, entry.utf8.count, -1, 0)
      if status == 0 { return true }
      // A full socket takes lines again soon; without a listener standard error may still work.
      if status == -EAGAIN { return false }
    }
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
