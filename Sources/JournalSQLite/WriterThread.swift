internal import EventLoop
internal import Journal

/// The writer and its thread.
///
/// The thread does everything that may wait for the disk. The loop writes a small batch itself,
/// while the thread has nothing to do. Whoever of them holds the lock works.
///
/// The thread is no ``Background``, because it writes all waiting batches in one transaction,
/// continues with its own work between commits, and reports one commit for many jobs.
final class WriterThread {
  private typealias Made = Result<SQLiteWriter, SQLiteError>

  /// `nil` until the thread has made it.
  private let writer: Lock<Made?>
  private let thread: Worker<SQLiteWriter.Job>

  /// The maximum number of events, and of their bytes, that the loop writes itself.
  ///
  /// A larger batch keeps the loop busy for longer than a switch to the thread and back takes.
  private static let (maxCount, maxBytes) = (16, 16 << 10)

  /// Starts the thread.
  ///
  /// - Parameter makeWriter: Runs on the thread.
  init(
    report: @escaping @Sendable (SQLiteWriter.Report) -> Void,
    _ makeWriter: @escaping @Sendable () throws(SQLiteError) -> sending SQLiteWriter
  ) throws(SystemError) {
    let writer = Lock<Made?>(nil)
    self.writer = writer
    thread = try Worker({
      writer.withLock { $0 = Result { () throws(SQLiteError) in try makeWriter() } }
    }) { _, jobs in
      writer.withLock { made in
        switch made {
        case .success(let writer): writer.work(jobs)
        case .failure(let error): report(.failed(error.refusal, "\(error)"))
        case nil: break
        }
      }
    }
  }

  /// Passes a job to the thread; call it on the loop.
  func post(_ job: SQLiteWriter.Job) {
    thread.post(job)
  }

  /// Writes a small batch on the calling thread, the loop's, if it need not wait for anything.
  ///
  /// - Returns: The report; `nil` if nothing was tried, and the batch is to be posted.
  func commitAtOnce(_ events: RecordBatch, generation: Int) -> SQLiteWriter.Report? {
    guard events.count <= Self.maxCount, events.byteCount <= Self.maxBytes,
      // Only the loop posts jobs, so nobody else takes the lock from here on.
      thread.isIdle
    else { return nil }
    return writer.withLock { made in
      guard case .success(let writer) = made else { return nil }
      return writer.commitAtOnce(events, generation: generation)
    }
  }

  /// Waits until all jobs are done and the thread has ended.
  func finish() {
    thread.finish()
  }
}
