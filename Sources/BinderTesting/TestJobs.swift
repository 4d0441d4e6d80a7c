internal import BinderDaemon
internal import Signals

/// Runs the jobs of services at the end of a turn.
final class TestJobs: JobRunner {
  private var waiting: [() -> Void] = []

  func run<Value: Sendable, Failure: Error>(
    _ job: @escaping @Sendable () throws(Failure) -> Value
  ) -> Signal<Value, Failure> {
    Signal { [weak self] observer in
      let observation = SimpleDisposable()
      self?.waiting.append {
        guard !observation.isDisposed else { return }
        do throws(Failure) {
          observer.receive(try job())
          observer.complete()
        } catch {
          observer.fail(error)
        }
      }
      return observation
    }
  }

  /// Runs all jobs that wait.
  func runAll() {
    let jobs = waiting
    waiting = []
    for job in jobs { job() }
  }
}
