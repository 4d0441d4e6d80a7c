package import Apps
package import EventLoop
package import Signals

/// A full-text index of this daemon's data, in memory and on a separate thread.
///
/// The first search creates it. From then on it follows the durable changes of the services.
package final class TextIndex: SearchBackend {
  package let name = "local"
  package let doc = "Messages, posts and names on this daemon."

  private let corpora: [SearchCorpus]

  /// The thread that owns the table of all texts, or the error of its creation.
  private let thread: Background<Result<TextTable, any Error>>
  private var isFilled = false
  private var isStopped = false
  private let bag = DisposeBag()

  package init(_ corpora: [SearchCorpus], on loop: Loop) {
    self.corpora = corpora
    thread = Background(on: loop, isLowPriority: true) { Result { try TextTable() } }
  }

  /// Ends the thread.
  ///
  /// Pending searches are not answered.
  package func stop() {
    isStopped = true
    bag.dispose()
    thread.close()
  }

  package func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> {
    Signal { [self] observer in
      fill()
      return thread.run(
        { table, _ throws(SearchError) in try Self.texts(in: table, term, limit) },
        unavailable: { _ in .failure(.failed("no thread can be started")) }
      )
      .map { [corpora] in $0.compactMap(corpora.hit) }
      .observe(with: observer.on)
    }
  }

  private static func texts(
    in table: Result<TextTable, any Error>, _ term: String, _ limit: Int
  ) throws(SearchError) -> [SearchText] {
    do { return try table.get().find(term, limit: limit) } catch { throw .failed("\(error)") }
  }

  /// Fills the table on first use, and lets it follow the changes from then on.
  private func fill() {
    guard !isFilled, !isStopped, (try? thread.start()) != nil else { return }
    isFilled = true
    for corpus in corpora {
      apply(corpus.all().map { .put($0) })
      corpus.changes.observeNext { [unowned self] changes in
        if !changes.isEmpty { apply(changes) }
      }
      .dispose(in: bag)
    }
  }

  private func apply(_ changes: [SearchChange]) {
    // Texts that cannot be added are not found. If the table does not work at all, searches report
    // the error.
    thread.post { table in try? table.get().apply(changes) }
  }
}

extension [SearchCorpus] {
  /// Returns the search hit for a text; `nil` if the text was removed meanwhile.
  fileprivate func hit(_ text: SearchText) -> SearchHit? {
    first { text.id.hasPrefix($0.service + "/") }?.describe(text.id).map {
      SearchHit(id: text.id, title: $0.title, text: text.text, source: $0.source)
    }
  }
}
