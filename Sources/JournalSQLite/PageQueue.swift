internal import EventLoop
internal import Journal
internal import Model
internal import Signals

/// The queue of pages from the reading thread to the replaying thread.
final class PageQueue: Sendable {
  /// The events of a page; none at the end.
  typealias Page = Result<RecordBatch, JournalError>

  /// The maximum number of records per page.
  static let pageSize = 512

  /// The size in bytes at which a page is full.
  static let pageBytes = 1 << 20

  private struct State {
    var pages = Queue<Page>()

    /// The total size of the pages, in bytes.
    var bytes = 0
    var isClosed = false
  }

  /// The size in bytes at which the reading thread waits.
  private static let capacity = 4 << 20
  private let state = Lock(State())

  /// Appends a page; waits for room.
  ///
  /// - Returns: `false` if the queue was closed.
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

  /// Removes and returns the first page; waits for one.
  func removeFirst() -> Page {
    let page = state.waitWithLock(until: { !$0.pages.isEmpty }) { state in
      guard let page = state.pages.popFirst() else { preconditionFailure("no page") }
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
    case .success(let events): events.byteCount
    case .failure: 0
    }
  }
}
