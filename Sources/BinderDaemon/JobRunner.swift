package import EventLoop
package import Signals

/// Runs jobs of services off their thread.
package protocol JobRunner: AnyObject {
  /// Returns a signal that runs a job for each observer, and emits its result on the loop.
  func run<Value: Sendable, Failure: Error>(
    _ job: @escaping @Sendable () throws(Failure) -> Value
  ) -> Signal<Value, Failure>
}

/// Runs jobs on a thread beside a loop; it begins with the first job.
package final class LoopJobs: JobRunner {
  private let background: Background<Void>

  package init(on loop: Loop) { background = Background(on: loop) {} }

  package func run<Value: Sendable, Failure: Error>(
    _ job: @escaping @Sendable () throws(Failure) -> Value
  ) -> Signal<Value, Failure> {
    // Without a thread the job runs on the loop.
    background.run(
      { (_, _) throws(Failure) in try job() },
      unavailable: { _ in Result { () throws(Failure) in try job() } })
  }

  /// Ends the thread, when no request waits for it any more.
  package func close() { background.close() }
}
