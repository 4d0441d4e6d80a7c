internal import JSON
internal import Wire

/// A list on its way to one client: how much of it that has, and what it is to be told.
///
/// It keeps no elements: they are in its log, which equal views share.
struct ShownList {
  private(set) var log: ListLog

  /// What keeps the log; `nil` when nobody else does.
  private(set) var feed: ViewFeed?

  /// Makes the elements that are not in the log yet.
  private var pending: (() -> [JSONText])?

  /// The number of the step that the client is told next; of one that is not kept when it is to be
  /// told the whole.
  private(set) var next = -1

  /// How many elements the client has, as of ``next``; `nil` when it has all of them, else the others
  /// follow.
  private var count: Int?

  /// A list that this property alone shows.
  init() { log = ListLog() }

  /// A list that others may show as well.
  init(_ log: ListLog, keptBy feed: ViewFeed) { (self.log, self.feed) = (log, feed) }

  /// Whether the client has not been told all, as far as that is known.
  var isNew: Bool { pending != nil || next != log.end || count != nil }

  // MARK: Setting

  /// Shows other elements; they are made when they are told.
  mutating func set(_ elements: @escaping () -> [JSONText]) { pending = elements }

  /// Brings the log to what is shown now, where nobody else keeps it.
  mutating func refresh() {
    guard let elements = pending else { return }
    pending = nil
    log.become(elements())
  }

  /// Goes on alone, with what there is.
  mutating func leaveFeed() {
    guard feed != nil else { return }
    let isNew = isNew
    let elements = log.elements
    (feed, log) = (nil, ListLog())
    log.replace(by: elements)
    (next, count) = isNew ? (-1, nil) : (log.end, nil)
  }

  // MARK: Telling

  /// Lets steps go that were told, where nobody else is to be told them.
  func forgetTold() { if feed == nil { log.forget(before: next) } }

  /// Appends the elements in brackets, as many as fit; those that do not follow.
  ///
  /// - Parameter end: How long the buffer may become.
  mutating func writeWhole(_ buffer: inout ByteBuffer, upTo end: Int) {
    let elements = log.elements
    buffer.append(#","value":["#)
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

  /// Appends what is new, as far as it fits.
  ///
  /// - Returns: Whether something is written, or there was nothing to write.
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
    buffer.append(#","changes":["#)
    let hasRoom = writeSteps(&buffer, upTo: end)
    let isEmpty = buffer.count == start + Self.changesBytes
    if isEmpty { buffer.truncate(to: start) } else { buffer.append(UInt8(ascii: "]")) }
    return hasRoom || !isEmpty
  }

  /// Bytes of `,"changes":[`.
  private static let changesBytes = 12

  /// Appends steps, and behind them the elements that the client has not as if they were inserted
  /// now.
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
        ListStep.insertion(of: elements[shown], at: shown), isFirst: isFirst, &buffer, end)
    {
      shown += 1
      isFirst = false
    }
    count = shown < elements.count ? shown : nil
    return count == nil
  }

  /// What a step is for the client, `nil` when it is about elements that it has not, and how many it
  /// has then.
  private func text(of step: ListStep) -> (String?, count: Int?) {
    guard var count else { return (step.text, nil) }
    let text = step.text(forFirst: &count)
    return (text, count)
  }

  /// Appends an element of an array that is closed later, when both fit.
  private static func append(
    _ text: String, isFirst: Bool, _ buffer: inout ByteBuffer, _ end: Int
  ) -> Bool {
    // Its comma, and the bracket behind it.
    guard end == .max || buffer.count + text.utf8.count + 2 <= end else { return false }
    if !isFirst { buffer.append(UInt8(ascii: ",")) }
    buffer.append(text)
    return true
  }
}
