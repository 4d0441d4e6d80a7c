internal import EventLoop
internal import Features
internal import Signals

/// The thread that owns the table of all texts.
final class IndexThread {
  typealias Found = Result<[SearchText], SearchError>

  private enum Job: Sendable {
    case take([SearchChange])
    case find(Int, String, limit: Int)
    case cancel(Int)
  }

  private struct Answer: Sendable {
    let number: Int
    let found: Found
  }

  private let worker: Worker<Job>
  private let mailbox: Mailbox<Answer>
  private let waiting: Waiting

  /// - Throws: ``SystemError`` if the thread cannot be created.
  init(on loop: Loop) throws(SystemError) {
    let waiting = Waiting()
    self.waiting = waiting
    let mailbox = try Mailbox<Answer>(on: loop) { answers in
      for answer in answers { waiting.answer(answer.number, answer.found) }
    }
    self.mailbox = mailbox
    let slot = mailbox.slot
    do throws(SystemError) {
      worker = try Worker(isBackground: true, { Result { try TextTable() } }) { table, jobs in
        Self.work(table, jobs, slot)
      }
    } catch {
      mailbox.close()
      throw error
    }
  }

  func stop() {
    worker.finish()
    mailbox.close()
  }

  func take(_ changes: [SearchChange]) {
    worker.post(.take(changes))
  }

  /// - Returns: A disposable that cancels the search; `answer` is not called then.
  func find(
    _ term: String, limit: Int, answer: @escaping (Found) -> Void
  ) -> any Disposable {
    let number = waiting.add(answer)
    worker.post(.find(number, term, limit: limit))
    return BlockDisposable { [worker, waiting] in
      if waiting.remove(number) { worker.post(.cancel(number)) }
    }
  }

  /// Runs on the thread.
  ///
  /// Skips searches that are cancelled in the same batch of jobs.
  private static func work(
    _ table: Result<TextTable, any Error>, _ jobs: [Job], _ slot: Mailbox<Answer>.Slot
  ) {
    let cancelled = Set(
      jobs.compactMap { job -> Int? in if case .cancel(let number) = job { number } else { nil } })
    for job in jobs {
      switch job {
      case .take(let changes):
        do { try table.get().take(changes) } catch {
          // Its texts are not found. If the table does not work at all, searches report the error.
          continue
        }
      case .find(let number, let term, let limit) where !cancelled.contains(number):
        let found = Result { try table.get().find(term, limit: limit) }
        slot.post(Answer(number: number, found: found.mapError { .failed("\($0)") }))
      case .find, .cancel: break
      }
    }
  }
}

/// The callbacks of pending searches, by number.
private final class Waiting {
  private var answers: [Int: (IndexThread.Found) -> Void] = [:]
  private var last = 0

  func add(_ answer: @escaping (IndexThread.Found) -> Void) -> Int {
    last += 1
    answers[last] = answer
    return last
  }

  /// - Returns: Whether the search was still pending.
  func remove(_ number: Int) -> Bool { answers.removeValue(forKey: number) != nil }

  func answer(_ number: Int, _ found: IndexThread.Found) {
    answers.removeValue(forKey: number)?(found)
  }
}
