package import EventLoop
package import Features
package import Signals

/// A full-text index of this daemon's data, in memory and on a separate thread.
///
/// The first search creates it. From then on it follows the durable changes of the services.
package final class TextIndex: SearchBackend {
  package let name = "local"
  package let doc = "Messages, posts and names on this daemon."

  private let corpora: [SearchCorpus]
  private let loop: Loop
  private var thread: IndexThread?
  private var isStopped = false
  private let bag = DisposeBag()

  package init(_ corpora: [SearchCorpus], on loop: Loop) {
    (self.corpora, self.loop) = (corpora, loop)
  }

  /// Ends the thread.
  ///
  /// Pending searches are not answered.
  package func stop() {
    isStopped = true
    bag.dispose()
    thread?.stop()
    thread = nil
  }

  package func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> {
    Signal { [self] observer in
      guard let thread = runningThread() else {
        observer.fail(.failed("no thread can be started"))
        return NonDisposable.instance
      }
      return thread.find(term, limit: limit) { [corpora] found in
        switch found {
        case .success(let texts): observer.receive(lastElement: texts.compactMap(corpora.hit))
        case .failure(let error): observer.fail(error)
        }
      }
    }
  }

  /// Returns the thread, after filling its table on first use; `nil` if it is stopped or cannot
  /// start.
  private func runningThread() -> IndexThread? {
    if let thread { return thread }
    guard !isStopped, let thread = try? IndexThread(on: loop) else { return nil }
    self.thread = thread
    for corpus in corpora {
      thread.take(corpus.all().map { .put($0) })
      corpus.changes.observeNext { changes in
        if !changes.isEmpty { thread.take(changes) }
      }
      .dispose(in: bag)
    }
    return thread
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
