internal import EventLoop
internal import Journal

/// A few pages on their way from the reading thread to the replaying one.
final class PageQueue: Sendable {
  typealias Page = Result<[Record], JournalError>

  /// How many records a page has at most.
  static let pageSize = 512

  /// From how many bytes on a page has no more.
  static let pageBytes = 1 << 20

  private struct State {
    var pages: [Page] = []

    /// What the pages weigh together.
    var bytes = 0
    var isClosed = false
  }

  /// From how many bytes on the reading thread waits.
  private static let capacity = 4 << 20
  private let state = Lock(State())

  /// Waits for room.
  ///
  /// - Returns: `false` when nobody takes pages any more.
  func put(_ page: Page) -> Bool {
    let bytes = page.weight
    let isTaken = state.waitWithLock(until: { $0.bytes < Self.capacity || $0.isClosed }) { state in
      if !state.isClosed {
        state.pages.append(page)
        state.bytes += bytes
      }
      return !state.isClosed
    }
    state.signal()
    return isTaken
  }

  /// Waits for a page.
  func take() -> Page {
    let page = state.waitWithLock(until: { !$0.pages.isEmpty }) { state in
      let page = state.pages.removeFirst()
      state.bytes -= page.weight
      return page
    }
    state.signal()
    return page
  }

  func close() {
    state.withLock { $0.isClosed = true }
    state.signal()
  }
}

extension PageQueue.Page {
  fileprivate var weight: Int {
    switch self {
    case .success(let records): records.reduce(0) { $0 + $1.weight }
    case .failure: 0
    }
  }
}

extension Record {
  /// About how many bytes it takes in memory.
  var weight: Int {
    256 + stream.utf8.count + data.utf8.count + (command?.utf8.count ?? 0)
      + (meta?.utf8.count ?? 0)
  }
}
