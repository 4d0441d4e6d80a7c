internal import CSupport
internal import Clibuv

/// A thread that runs jobs in the order in which they are posted.
///
/// It takes all waiting jobs as one batch, so that they can be handled together.
package final class Worker<Job: Sendable>: Sendable {
  private struct State {
    var jobs: [Job] = []
    var isWorking = true
    var isFinishing = false
    var thread: uv_thread_t?
  }

  private let state = Lock(State())

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - isBackground: Whether the thread has a lower priority than others.
  ///   - makeContext: Runs first on the new thread and creates the context of the jobs, which never
  ///     leaves that thread.
  ///   - work: Runs on the new thread with each batch of one or more jobs.
  package init<Context>(
    isBackground: Bool = false, _ makeContext: @escaping @Sendable () -> Context,
    work: @escaping @Sendable (Context, [Job]) -> Void
  ) throws(SystemError) {
    let state = state
    let body = ThreadBody {
      if isBackground { cposix_lower_thread_priority() }
      let context = makeContext()
      while true {
        state.withLock { $0.isWorking = false }
        let jobs = state.waitWithLock(until: { !$0.jobs.isEmpty || $0.isFinishing }) { state in
          defer { state.jobs = [] }
          state.isWorking = true
          return state.jobs
        }
        if jobs.isEmpty { return }
        work(context, jobs)
      }
    }
    var thread = uv_thread_t()
    let argument = Unmanaged.passRetained(body)
    let status = uv_thread_create(&thread, runThread, argument.toOpaque())
    if status < 0 { argument.release() }
    try SystemError.check("uv_thread_create", status)
    let started = thread
    state.withLock { $0.thread = started }
  }

  /// Posts a job; drops it after ``finish()``.
  package func post(_ job: Job) {
    state.withLock { state in
      if !state.isFinishing { state.jobs.append(job) }
    }
    state.signal()
  }

  /// Whether the context is made and all posted jobs are done.
  ///
  /// It stays so until a job is posted.
  package var isIdle: Bool { state.withLock { $0.jobs.isEmpty && !$0.isWorking } }

  /// Waits until all posted jobs are done and the thread has ended.
  ///
  /// A second call does nothing.
  package func finish() {
    let thread = state.withLock { state in
      state.isFinishing = true
      defer { state.thread = nil }
      return state.thread
    }
    state.signal()
    guard var thread else { return }
    uv_thread_join(&thread)
  }
}

/// The body of a thread, as an object that C can pass on.
private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) {
    self.run = run
  }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) {
  guard let argument else { return }
  Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
}
