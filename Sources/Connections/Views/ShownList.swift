internal import Facts
internal import JSON
internal import Wire

/// A list that is sent to one client, with the client's progress.
///
/// The elements are in a log that views with the same list share.
struct ShownList {
  private(set) var log: ListLog

  /// The feed that owns the log; `nil` if the log is not shared.
  private(set) var feed: ViewFeed?

  /// Returns the elements that are not in the log yet.
  private var pending: (() -> [JSONText])?

  /// The index of the next step to send.
  ///
  /// If that step is no longer kept, the whole list is sent.
  private(set) var next = -1

  /// The number of elements that the client has as of ``next``; `nil` if it has all.
  ///
  /// The others follow.
  private var count: Int?

  /// Creates a list that is not shared.
  init() { log = ListLog() }

  /// Creates a list that other properties may share.
  init(_ log: ListLog, keptBy feed: ViewFeed) { (self.log, self.feed) = (log, feed) }

  /// Whether something must be sent, as far as known before ``refresh()``.
  var isNew: Bool { pending != nil || next != log.end || count != nil }

  // MARK: Setting

  /// Sets new elements, which are computed when they are sent.
  mutating func set(_ elements: @escaping () -> [JSONText]) { pending = elements }

  /// Updates an unshared log to the current elements.
  mutating func refresh() {
    guard let elements = pending else { return }
    pending = nil
    log.become(elements())
  }

  /// Leaves the feed and keeps the current elements in an unshared log.
  mutating func leaveFeed() {
    guard feed != nil else { return }
    let isNew = isNew
    let elements = log.elements
    (feed, log) = (nil, ListLog())
    log.replace(by: elements)
    (next, count) = isNew ? (-1, nil) : (log.end, nil)
  }

  // MARK: Writing

  /// Drops sent steps from an unshared log.
  func forgetTold() { if feed == nil { log.forget(before: next) } }

  /// Appends the whole list in brackets, as many elements as fit; the rest follows later.
  ///
  /// - Parameter end: The most bytes that the buffer may contain.
  mutating func writeWhole(_ buffer: inout ByteBuffer, upTo end: Int) {
    let elements = log.elements
    buffer.key("value")
    buffer.append(UInt8(ascii: "["))
    var written = 0
    while written < elements.count,
      Self.append(elements[written].text, isFirst: written == 0, &buffer, end)
    {
      written += 1
    }
    buffer.append(UInt8(ascii: "]"))
    next = log.end
    count = written < elements.count ? written : nil
  }

  /// Appends the changes, as many as fit.
  ///
  /// - Returns: Whether something was written or nothing was left to write.
  mutating func writeNews(_ buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    guard isNew else { return true }
    let start = buffer.count
    guard next >= log.start else {
      writeWhole(&buffer, upTo: end)
      guard buffer.count <= end, count != 0 else {
        buffer.truncate(to: start)
        (next, count) = (-1, nil)
        return false
      }
      return true
    }
    buffer.key("changes")
    buffer.append(UInt8(ascii: "["))
    let first = buffer.count
    let hasRoom = writeSteps(&buffer, upTo: end)
    let isEmpty = buffer.count == first
    if isEmpty { buffer.truncate(to: start) } else { buffer.append(UInt8(ascii: "]")) }
    return hasRoom || !isEmpty
  }

  /// Appends steps, then the elements that the client does not have yet, as insertions.
  ///
  /// - Returns: Whether all were written.
  private mutating func writeSteps(_ buffer: inout ByteBuffer, upTo end: Int) -> Bool {
    var isFirst = true
    while next < log.end {
      let (text, after) = text(of: log[next])
      if let text {
        guard Self.append(text, isFirst: isFirst, &buffer, end) else { return false }
        isFirst = false
      }
      next += 1
      count = after
    }
    guard var shown = count else { return true }
    let elements = log.elements
    while shown < elements.count,
      Self.append(
        CollectionChange.insert(at: shown, elements[shown]).text, isFirst: isFirst, &buffer, end)
    {
      shown += 1
      isFirst = false
    }
    count = shown < elements.count ? shown : nil
    return count == nil
  }

  /// Returns a step for the client, or `nil` if it does not affect the client's elements, and the
  /// number of elements that the client has after it.
  private func text(of step: ListStep) -> (String?, count: Int?) {
    guard var count else { return (step.text, nil) }
    let text = step.text(forFirst: &count)
    return (text, count)
  }

  /// Appends an element of an array if it fits together with the closing bracket.
  private static func append(
    _ text: String, isFirst: Bool, _ buffer: inout ByteBuffer, _ end: Int
  ) -> Bool {
    // Reserves two bytes: the comma and the closing bracket.
    guard end == .max || buffer.count + text.utf8.count + 2 <= end else { return false }
    if !isFirst { buffer.append(UInt8(ascii: ",")) }
    buffer.append(text)
    return true
  }
}
