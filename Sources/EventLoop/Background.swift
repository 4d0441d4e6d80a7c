package import Signals

/// A thread that runs jobs in the order in which they were started, and sends results to the loop.
///
/// The thread begins with the first job, and owns a state that never leaves it:
///
/// ```swift
/// let words = Background(on: loop) { Dictionary(path) }
/// words.run({ dictionary, _ in dictionary.find("loop") }, unavailable: { _ in .success(nil) })
///   .observeNext { show($0) }.dispose(in: bag)
/// ```
///
/// All functions are called on the loop's thread. The queue has no limit: callers bound the number
/// of their own jobs. Use a ``Worker`` where jobs must be handled in batches, or where the caller
/// waits for them.
package final class Background<State> {
  private typealias Work = @Sendable (State) -> Void

  private let loop: Loop
  private let isLowPriority: Bool
  private let makeState: @Sendable () -> State
  private var thread: (worker: Worker<Work>, finished: Mailbox<Int>)?
  private var isClosed = false

  /// The jobs whose results were not delivered yet, by number.
  private var pending: [Int: Pending] = [:]
  private var last = 0

  /// The numbers of the finished jobs whose results were not delivered yet, in order.
  private var finished = Queue<Int>()

  /// The nanoseconds of a turn after which no other result is delivered.
  ///
  /// While the loop does other work, many results may be ready, and an observer may take long.
  package var deliveryTime: UInt64 = 2_000_000

  /// The number of no job.
  private static var noJob: Int { 0 }

  private struct Pending {
    let cancellation: Cancellation

    /// Sends the result to the observer.
    let deliver: () -> Void
  }

  /// - Parameters:
  ///   - isLowPriority: Whether the thread has a lower priority than others.
  ///   - makeState: Creates the state of the jobs, on the thread.
  package init(
    on loop: Loop, isLowPriority: Bool = false, _ makeState: @escaping @Sendable () -> State
  ) {
    self.loop = loop
    self.isLowPriority = isLowPriority
    self.makeState = makeState
  }

  /// Starts the thread, if it does not run yet.
  ///
  /// From then on the loop keeps running until ``close()`` or ``abandon()``.
  ///
  /// Does nothing after them.
  package func start() throws(SystemError) {
    guard thread == nil, !isClosed else { return }
    let finished = try Mailbox<Int>(on: loop) { [weak self] numbers in
      self?.deliver(numbers)
    }
    do throws(SystemError) {
      let worker = try Worker<Work>(isBackground: isLowPriority, makeState) { state, jobs in
        for job in jobs { job(state) }
      }
      thread = (worker, finished)
    } catch {
      finished.close()
      throw error
    }
  }

  /// Delivers results, in the order in which the jobs have finished; those for which there is no time
  /// follow in the next turn.
  private func deliver(_ numbers: [Int]) {
    for number in numbers where number != Self.noJob { finished.append(number) }
    let end = Process.nanoseconds + deliveryTime
    while let number = finished.popFirst() {
      guard let job = pending.removeValue(forKey: number) else { continue }
      job.deliver()
      if Process.nanoseconds >= end { break }
    }
    // An observer may have closed this object.
    if !finished.isEmpty { thread?.finished.slot.post(Self.noJob) }
  }

  /// Returns a signal that runs a job for each observer and emits its result on the loop.
  ///
  /// Disposing an observation cancels its job and drops its result. A job that waits does not
  /// begin. A job that runs can see it by its ``Cancellation``.
  ///
  /// - Parameters:
  ///   - job: Runs on the thread. An error that it throws fails the signal.
  ///   - unavailable: Returns the result if no job can run.
  package func run<Value: Sendable, Failure: Error>(
    _ job: @escaping @Sendable (State, Cancellation) throws(Failure) -> Value,
    unavailable: @escaping (JobRefusal) -> Result<Value, Failure>
  ) -> Signal<Value, Failure> {
    Signal { [weak self] observer in
      let refusal = self.map { $0.begin(job, observer) } ?? .failure(.closed)
      switch refusal {
      case .success(let observation): return observation
      case .failure(let refusal):
        observer.end(with: unavailable(refusal))
        return NonDisposable.instance
      }
    }
  }

  private func begin<Value: Sendable, Failure: Error>(
    _ job: @escaping @Sendable (State, Cancellation) throws(Failure) -> Value,
    _ observer: AtomicObserver<Value, Failure>
  ) -> Result<any Disposable, JobRefusal> {
    do throws(SystemError) { try start() } catch { return .failure(.noThread(error)) }
    guard let thread else { return .failure(.closed) }
    last += 1
    let number = last
    let cancellation = Cancellation()
    let result = Lock<Result<Value, Failure>?>(nil)
    pending[number] = Pending(cancellation: cancellation) {
      if let result = result.withLock(\.self) { observer.end(with: result) }
    }
    let finished = thread.finished.slot
    thread.worker.post { state in
      guard !cancellation.isCancelled else { return }
      let outcome = Result { () throws(Failure) in try job(state, cancellation) }
      result.withLock { $0 = outcome }
      finished.post(number)
    }
    return .success(
      BlockDisposable { [weak self] in
        self?.pending.removeValue(forKey: number)?.cancellation.cancel()
      })
  }

  /// Runs a job without a result, which cannot be cancelled.
  ///
  /// Does nothing if no job can run.
  package func post(_ job: @escaping @Sendable (State) -> Void) {
    guard (try? start()) != nil else { return }
    thread?.worker.post(job)
  }

  /// Cancels all jobs with a result, and waits for the end of the thread.
  ///
  /// Their observers receive nothing, not even an end. Jobs without a result still run.
  package func close() {
    end()?.finish()
  }

  /// Cancels all jobs with a result, and leaves the thread with its state to the end of the process.
  package func abandon() {
    _ = end()
  }

  /// Stops the delivery of results; returns the thread to end.
  private func end() -> Worker<Work>? {
    isClosed = true
    let pending = pending
    self.pending = [:]
    finished.removeAll()
    for job in pending.values { job.cancellation.cancel() }
    let thread = thread
    self.thread = nil
    thread?.finished.close()
    return thread?.worker
  }
}

/// The reason why a ``Background`` runs no job.
package enum JobRefusal: Error {
  case closed
  case noThread(SystemError)
}

extension JobRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .closed: "closed"
    case .noThread(let error): "\(error)"
    }
  }
}

/// A flag that a running job can check, to end early when its result is not wanted any more.
package final class Cancellation: Sendable {
  private let flag = Lock(false)

  package init() {}

  /// Whether the job should end; its result will be dropped.
  package var isCancelled: Bool { flag.withLock(\.self) }

  package func cancel() {
    flag.withLock { $0 = true }
  }
}

extension AtomicObserver {
  fileprivate func end(with result: Result<Element, Error>) {
    switch result {
    case .success(let element): receive(lastElement: element)
    case .failure(let error): fail(error)
    }
  }
}
