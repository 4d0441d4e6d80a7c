package import EventLoop
package import Services
package import Signals

/// Reads feeds on a thread of its own, which is there from the first one on: a long text does not
/// keep anybody waiting.
package final class FeedWorker: FeedReader {
  private struct Job: Sendable {
    let id: Int
    let page: FeedPage
  }

  private typealias Letter = (id: Int, outcome: Outcome)
  private typealias Outcome = Result<FeedDocument, FeedTextFault>

  private let loop: Loop
  private var worker: Worker<Job>?
  private var mailbox: Mailbox<Letter>?
  private var waiting: [Int: (Outcome) -> Void] = [:]
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
        waiting[id] = { outcome in
          switch outcome {
          case .success(let document):
            observer.receive(document)
            observer.complete()
          case .failure(let fault): observer.fail(fault)
          }
        }
        worker.post(Job(id: id, page: page))
        return BlockDisposable { [self] in waiting[id] = nil }
      } catch {
        observer.fail(FeedTextFault(line: 1, "it cannot be read here: \(error)"))
        return NonDisposable.instance
      }
    }
  }

  private func start() throws(SystemError) -> Worker<Job> {
    if let worker { return worker }
    let mailbox = try Mailbox<Letter>(on: loop) { [unowned self] letters in
      for letter in letters { waiting.removeValue(forKey: letter.id)?(letter.outcome) }
    }
    let slot = mailbox.slot
    let worker = try Worker<Job>(isBackground: true) {
    } work: { (_: Void, jobs) in
      for job in jobs {
        slot.post((job.id, Result { () throws(FeedTextFault) in try FeedText.parse(job.page) }))
      }
    }
    (self.mailbox, self.worker) = (mailbox, worker)
    return worker
  }

  /// Ends the thread; what it has read since is told to nobody.
  package func close() {
    waiting = [:]
    mailbox?.close()
    worker?.finish()
    (mailbox, worker) = (nil, nil)
  }
}
