package import Apps
package import EventLoop
package import Signals

/// Parses feed texts: RSS 2.0 and 1.0, Atom, JSON Feed, and a plain list of podcasts.
package enum FeedText {
  /// Maximum number of items; further ones are ignored.
  static let maxItems = 1000

  /// Maximum size in bytes of a line of text.
  ///
  /// Longer titles and ids are cut, longer addresses are dropped.
  static let maxTextBytes = 1024

  /// Maximum number of characters in a title that is made from other text.
  static let titleLength = 80

  /// Parses a feed.
  ///
  /// Common faults are repaired. At any other fault parsing stops: the document has the items before
  /// it, and the fault.
  ///
  /// - Parameter isWanted: Called before parsing and at each XML element. Parsing stops when it
  ///   returns false.
  /// - Throws: ``FeedTextFault`` for the first fault, if there is no whole item before it.
  package static func parse(
    _ page: FeedPage, while isWanted: () -> Bool = { true }
  ) throws(FeedTextFault) -> FeedDocument {
    guard isWanted() else { throw .cancelled }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = page.text.starts(with: mark) ? page.text.dropFirst(mark.count) : page.text[...]
    switch text.first(where: { $0 > 0x20 }) {
    case UInt8(ascii: "{"): return try JSONFeed.parse(Array(text), at: page.url)
    // Includes texts that are not UTF-8, such as UTF-16; the parser detects them.
    case _?:
      if let fault = WebPage.fault(of: text, at: page.url) { throw fault }
      return try XMLFeed.parse(page, while: isWanted)
    case nil: throw FeedTextFault("the document is empty")
    }
  }
}

extension FeedTextFault {
  static let cancelled = FeedTextFault("parsing was cancelled")
}

extension FeedDocument {
  /// Returns the part of the document before a fault, with the fault.
  ///
  /// - Throws: The fault, if the part has no items.
  func before(_ fault: FeedTextFault) throws(FeedTextFault) -> FeedDocument {
    guard !items.isEmpty else { throw fault }
    var part = self
    part.fault = fault
    return part
  }
}

extension Enclosure {
  /// Returns how well a file fits as the recording of an episode, by its media type.
  static func rank(_ type: String?) -> Int {
    guard let type = type?.lowercased() else { return 1 }
    if type.hasPrefix("audio/") || type.hasPrefix("video/") { return 2 }
    return type.hasPrefix("application/octet-stream") ? 1 : 0
  }
}

extension String {
  /// The text as one trimmed line of at most `FeedText.maxTextBytes` bytes; `nil` if it is empty.
  var asLine: String? {
    guard let line = asOneLine else { return nil }
    guard line.utf8.count > FeedText.maxTextBytes else { return line }
    var end = line.utf8.index(line.startIndex, offsetBy: FeedText.maxTextBytes)
    while end.samePosition(in: line) == nil { end = line.utf8.index(before: end) }
    return String(line[..<end])
  }

  /// Returns the absolute HTTP or HTTPS URL; `nil` for any other address.
  ///
  /// A space within the address becomes `%20`.
  ///
  /// - Parameter base: The base URL of relative addresses.
  func address(from base: String) -> String? {
    guard let text = asLine.map({ _ in withEscapedSpaces }), let line = text.asLine,
      line.utf8.count < FeedText.maxTextBytes, !line.contains(" "),
      let address = WebReference(line).resolved(against: WebReference(base)),
      address.utf8.count < FeedText.maxTextBytes,
      address.hasPrefix("https://") || address.hasPrefix("http://")
    else { return nil }
    return address
  }

  /// The text without outer white space, with `%20` for each space.
  private var withEscapedSpaces: String {
    let start = drop(while: \.isWhitespace)
    let end = start.lastIndex { !$0.isWhitespace } ?? start.startIndex
    return start.prefix(through: end).split(separator: " ", omittingEmptySubsequences: false)
      .joined(separator: "%20")
  }

  /// The beginning of the text as a title, cut between words if possible.
  var asTitle: String? {
    guard let line = asLine else { return nil }
    guard line.count > FeedText.titleLength else { return line }
    let cut = line.prefix(FeedText.titleLength)
    let words = cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut
    return (words.count > FeedText.titleLength / 2 ? words : cut) + "…"
  }
}

/// Parses feeds on a separate thread, so that a long text does not block the loop.
///
/// The thread starts with the first feed.
package final class FeedWorker: FeedReader {
  private let thread: Background<Void>

  package init(on loop: Loop) {
    thread = Background(on: loop, isLowPriority: true) {}
  }

  package func read(_ page: FeedPage) -> Signal<FeedDocument, FeedTextFault> {
    thread.run(
      { _, cancellation throws(FeedTextFault) in
        try FeedText.parse(page) { !cancellation.isCancelled }
      },
      unavailable: { refusal in
        .failure(FeedTextFault("the document cannot be read: \(refusal)"))
      })
  }

  /// Ends the thread, even while it parses.
  ///
  /// Observers receive nothing.
  package func close() { thread.close() }
}
