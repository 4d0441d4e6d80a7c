internal import Glibc
internal import JSON

/// Holds the lines of one connection against the promises of order: one reply a request, in order; a
/// reply before the first frame of its subscription; positions that grow; nothing after an end;
/// children before parents.
package struct OrderRecorder {
  /// What has no LF yet.
  private var partial: [UInt8] = []

  /// Whether the line that is being sent is over the limit, and so was refused before its end.
  private var isTooLong = false

  /// The last lines, for people.
  private var transcript: [String] = []

  var replies = Replies()
  var frames = Frames()

  /// The longest line that the daemon takes, in bytes.
  package var maxLine = 1 << 20

  private static let shownLines = 40

  /// - Parameters:
  ///   - adoptsSubscriptions: Whether frames may come of subscriptions that no request has made: for
  ///     tests that make them by hand.
  ///   - late: The methods that `describe` marks `async`.
  package init(adoptsSubscriptions: Bool = false, late: Set<String> = ["history", "sync", "wait"]) {
    frames.adopts = adoptsSubscriptions
    replies.late = late
  }

  /// Takes what the client has sent, however it is cut.
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

  /// The client has ended its side: what it sent last counts as a line.
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
  /// - Returns: The promise that it breaks, and what went before; `nil` when it breaks none.
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
