internal import Glibc
internal import JSON

/// Checks the lines of one connection against the ordering rules.
///
/// The rules: one reply per request, in request order; a reply before the first frame of its
/// subscription; positions that grow; nothing after an end; child views close before their parents.
package struct OrderRecorder {
  /// Sent bytes without an LF so far.
  private var partial: [UInt8] = []

  /// Whether the current line exceeds the limit, so that it is refused before its end.
  private var isTooLong = false

  /// The last lines, for the failure message.
  private var transcript: [String] = []

  var replies = Replies()
  var frames = Frames()

  /// The longest line that the daemon takes, in bytes.
  package var maxLine = 1 << 20

  private static let shownLines = 40

  /// - Parameters:
  ///   - adoptsSubscriptions: Whether to accept frames of subscriptions without a request, for
  ///     tests that make them by hand.
  ///   - late: The methods that `describe` marks `async`.
  package init(
    adoptsSubscriptions: Bool = false,
    late: Set<String> = [
      "bindings.try", "clock", "history", "sync", "undo", "wait", "why", "locks.acquire",
      "lamp.blink",
    ]
  ) {
    frames.adopts = adoptsSubscriptions
    replies.late = late
  }

  /// Takes bytes that the client has sent, in chunks of any size.
  package mutating func sent(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let end = rest.firstNewline {
      partial += isTooLong ? [] : rest[..<end]
      rest = rest[(end + 1)...]
      checkLength()
      if !isTooLong { take() }
      partial = []
      isTooLong = false
    }
    partial += isTooLong ? [] : rest
    checkLength()
  }

  private mutating func checkLength() {
    guard partial.count > maxLine else { return }
    isTooLong = true
    partial = []
    note("-> (a line that is too long)")
    replies.expectRefusal()
  }

  /// Takes the end of the client's side; the last bytes count as a line.
  package mutating func sentEnd() {
    if !partial.isEmpty { sent([UInt8(ascii: "\n")]) }
  }

  private mutating func take() {
    let line = String(decoding: partial, as: UTF8.self)
    note("-> \(line)")
    guard !line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
    guard String(validating: partial, as: UTF8.self) != nil else { return replies.expectRefusal() }
    replies.expect(line)
  }

  /// Takes a line that the client has received.
  ///
  /// - Returns: The broken rule and the preceding lines; `nil` if no rule is broken.
  package mutating func received(_ line: String) -> String? {
    note("<- \(line)")
    let fault: String?
    if frames.isClosed {
      fault = "a line comes after closing"
    } else if let frame = try? JSONText(parsing: line, maxMembers: JSONLimits.anyMembers) {
      if let members = frame.members {
        fault =
          members["method"] != nil ? frames.take(members) : replies.take(members, &frames)
      } else {
        fault = replies.take(batch: frame.elements ?? [], &frames)
      }
    } else {
      fault = "a line is not JSON"
    }
    return fault.map { "\($0)\n\(transcript.joined(separator: "\n"))" }
  }

  private mutating func note(_ line: String) {
    transcript.append(String(line.prefix(300)))
    if transcript.count > Self.shownLines { transcript.removeFirst() }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var firstNewline: Int? {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, let found = memchr(start, 0x0A, bytes.count) else {
        return nil
      }
      return startIndex + (UnsafeRawPointer(found) - start)
    }
  }
}
