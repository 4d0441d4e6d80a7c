package import EventLoop
package import Features
package import Signals

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
