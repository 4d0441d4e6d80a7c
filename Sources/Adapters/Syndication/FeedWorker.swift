package import EventLoop
package import Features
package import Signals

/// Parses feeds on a separate thread, so that a long text does not block the loop.
///
/// The thread starts with the first feed.
package final class FeedWorker: FeedReader {
  private struct Job: Sendable {
    let id: Int
    let page: FeedPage

    /// Whether an observer still waits for the result.
    let isWanted: Lock<Bool>
  }

  private typealias Letter = (id: Int, outcome: Outcome)
  private typealias Outcome = Result<FeedDocument, FeedTextFault>

  private let loop: Loop
  private var worker: Worker<Job>?
  private var mailbox: Mailbox<Letter>?
  private var waiting: [Int: (isWanted: Lock<Bool>, end: (Outcome) -> Void)] = [:]
  private var lastID = 0

  package init(on loop: Loop) {
    self.loop = loop
  }

  package func read(_ page: FeedPage) -> Signal<FeedDocument, FeedTextFault> {
    Signal { [self] observer in
      do throws(SystemError) {
        let worker = try start()
        lastID += 1
        let id = lastID
        let isWanted = Lock(true)
        waiting[id] = (
          isWanted,
          { outcome in
            switch outcome {
            case .success(let document):
              observer.receive(document)
              observer.complete()
            case .failure(let fault): observer.fail(fault)
            }
          }
        )
        worker.post(Job(id: id, page: page, isWanted: isWanted))
        return BlockDisposable { [self] in
          isWanted.withLock { $0 = false }
          waiting[id] = nil
        }
      } catch {
        observer.fail(FeedTextFault(line: 1, "the document cannot be read: \(error)"))
        return NonDisposable.instance
      }
    }
  }

  private func start() throws(SystemError) -> Worker<Job> {
    if let worker { return worker }
    let mailbox = try Mailbox<Letter>(on: loop) { [unowned self] letters in
      for letter in letters { waiting.removeValue(forKey: letter.id)?.end(letter.outcome) }
    }
    let slot = mailbox.slot
    let worker: Worker<Job>
    do throws(SystemError) {
      worker = try Worker<Job>(isBackground: true) {
      } work: { (_: Void, jobs) in
        for job in jobs {
          let outcome = Result { () throws(FeedTextFault) in
            try FeedText.parse(job.page) { job.isWanted.withLock(\.self) }
          }
          slot.post((job.id, outcome))
        }
      }
    } catch {
      mailbox.close()
      throw error
    }
    (self.mailbox, self.worker) = (mailbox, worker)
    return worker
  }

  /// Ends the thread, even while it parses.
  ///
  /// Observers receive nothing.
  package func close() {
    for job in waiting.values { job.isWanted.withLock { $0 = false } }
    waiting = [:]
    mailbox?.close()
    worker?.finish()
    (mailbox, worker) = (nil, nil)
  }
}
