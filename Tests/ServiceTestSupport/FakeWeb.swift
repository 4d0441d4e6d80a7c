package import Apps
package import Signals

/// A web client whose answers the test controls.
package final class FakeWeb: WebClient {
  /// All requests so far.
  package private(set) var requests: [WebRequest] = []
  private var waiting: [(request: WebRequest, observer: AtomicObserver<WebResponse, WebError>)] = []

  package init() {}

  /// The number of unanswered requests.
  package var count: Int { waiting.count }

  package func get(_ request: WebRequest) -> Signal<WebResponse, WebError> {
    Signal { [self] observer in
      requests.append(request)
      waiting.append((request, observer))
      return BlockDisposable { [self] in waiting.removeAll { $0.observer === observer } }
    }
  }

  /// Answers the oldest request.
  package func answer(
    _ text: String = "", status: Int = 200, headers: [String: String] = [:], from url: String? = nil
  ) {
    let observer = waiting.removeFirst().observer
    observer.receive(
      WebResponse(status: status, headers: headers, body: Array(text.utf8), url: url))
    observer.complete()
  }

  package func fail(_ error: WebError) {
    waiting.removeFirst().observer.fail(error)
  }
}

/// Reads a simple format: a title, then a line `key title published` for each item.
///
/// A line `!` is a fault: what follows it is not read.
package final class FakeReader: FeedReader {
  /// The pages read so far.
  package private(set) var pages: [FeedPage] = []

  package init() {}

  package func read(_ page: FeedPage) -> Signal<FeedDocument, FeedTextFault> {
    pages.append(page)
    let lines = String(decoding: page.text, as: UTF8.self).split(separator: "\n")
    guard let title = lines.first, title != "?" else {
      return .failed(FeedTextFault(line: 1, column: 1, "not a feed"))
    }
    let end = lines.firstIndex(of: "!")
    let items = lines[..<(end ?? lines.endIndex)].dropFirst().map { line in
      let words = line.split(separator: " ", maxSplits: 2)
      return FeedItem(
        key: String(words[0]), title: words.count > 1 ? String(words[1]) : "-",
        published: words.count > 2 ? String(words[2]) : nil)
    }
    return Signal(
      just: FeedDocument(
        title: String(title), items: items,
        fault: end.map { FeedTextFault(line: $0 + 1, column: 1, "cut") }))
  }
}
