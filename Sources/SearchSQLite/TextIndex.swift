package import EventLoop
package import Services
package import Signals

/// Full text over what this daemon holds, in memory and on a thread of its own.
///
/// It is made when somebody looks for something for the first time, and follows from then on what the
/// services make durable.
package final class TextIndex: SearchBackend {
  package let name = "local"
  package let doc = "What was said here."

  private let corpora: [SearchCorpus]
  private let loop: Loop
  private var thread: IndexThread?
  private var isStopped = false
  private let bag = DisposeBag()

  package init(_ corpora: [SearchCorpus], on loop: Loop) {
    (self.corpora, self.loop) = (corpora, loop)
  }

  /// Ends the thread; what waits is not answered any more.
  package func stop() {
    isStopped = true
    bag.dispose()
    thread?.stop()
    thread = nil
  }

  package func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> {
    Signal { [self] observer in
      guard let thread = runningThread() else {
        observer.fail(.failed("there is no thread for it"))
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

  /// The thread, with all there is to find; `nil` when there is none and can be none.
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
  /// A text as it is shown; `nil` when it has gone meanwhile.
  fileprivate func hit(_ text: SearchText) -> SearchHit? {
    first { text.id.hasPrefix($0.service + "/") }?.describe(text.id).map {
      SearchHit(id: text.id, title: $0.title, text: text.text, source: $0.source)
    }
  }
}
