internal import EventLoop
internal import Journal

/// Commits the events that the loop does not commit itself, on a thread that may wait for the disk.
///
/// The thread is no ``Background``, because it writes all waiting batches at once, and reports one
/// commit for many jobs.
final class TailWriter {
  private let thread: Worker<Job>

  enum Job: Sendable {
    /// Writes events.
    ///
    /// With `isForDisk`, they are committed only once the disk has them.
    case append(RecordBatch, generation: Int, isForDisk: Bool)
    /// Flushes committed events to the disk.
    ///
    /// With `isAwaited`, reports completion.
    case synchronize(isAwaited: Bool)
  }

  /// The bytes of the events of one block, unless a single batch has more.
  private static let maxBytes = TailFile.fullSize / 2

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - isAlwaysForDisk: Whether all events are committed only once the disk has them.
  ///   - database: The database's thread.
  init(
    _ tail: Tail, isAlwaysForDisk: Bool, database: Worker<SQLiteWriter.Job>,
    report: @escaping @Sendable (SQLiteWriter.Report) -> Void
  ) throws(SystemError) {
    thread = try Worker({}) { _, jobs in
      var batches: [RecordBatch] = []
      var (isForDisk, newest) = (isAlwaysForDisk, 0)
      for job in jobs {
        switch job {
        case .append(let events, let generation, let needsDisk):
          // Those of an older one were dropped by the loop.
          if generation != newest { batches = [] }
          newest = generation
          batches.append(events)
          isForDisk = isForDisk || needsDisk
        case .synchronize(let isAwaited):
          // Failed before: that was reported.
          guard !tail.hasFailed else { break }
          if let failure = tail.flush() {
            report(.failure(failure))
          } else if isAwaited {
            report(.synchronized)
          }
        }
      }
      // One flush for many; but a file of the tail does not grow without bound.
      var (first, bytes) = (0, 0)
      for i in batches.indices {
        bytes += batches[i].byteCount
        guard i == batches.count - 1 || bytes + batches[i + 1].byteCount > Self.maxBytes else {
          continue
        }
        Self.commit(
          Array(batches[first...i]), newest, isForDisk: isForDisk, to: tail, database, report)
        (first, bytes) = (i + 1, 0)
      }
    }
  }

  private static func commit(
    _ batches: [RecordBatch], _ generation: Int, isForDisk: Bool, to tail: Tail,
    _ database: Worker<SQLiteWriter.Job>, _ report: (SQLiteWriter.Report) -> Void
  ) {
    let start = MonotonicClock.now
    while true {
      switch tail.commit(batches, generation: generation, isForDisk: isForDisk) {
      case .done(let wish):
        report(
          .committed(upTo: batches.last?.last ?? 0, nanoseconds: MonotonicClock.now - start))
        database.post(wish)
        return
      case .noRoom:
        tail.beginFreeing()
        database.post(.move(flushes: true))
        if let failure = tail.makeRoom(for: batches) { return report(.refusal(failure)) }
      case .failed(let failure): return report(.refusal(failure))
      case .dropped: return
      }
    }
  }

  /// Passes a job to the thread; call it on the loop.
  func post(_ job: Job) { thread.post(job) }

  /// Waits until all jobs are done and the thread has ended.
  func finish() { thread.finish() }
}

extension Worker<SQLiteWriter.Job> {
  /// Passes a wish of the tail to the database's thread.
  func post(_ wish: Tail.Wish) {
    switch wish {
    case .nothing: break
    case .move: post(.move(flushes: false))
    case .free: post(.move(flushes: true))
    }
  }
}
