package import Binder
package import EventSourcing
internal import Model
package import Signals

extension ServiceHost {
  /// Runs a method as a command, and rethrows the error of its service.
  @discardableResult
  package func run<Value>(_ body: () throws -> Value) throws -> Value {
    var result: Result<Value, any Error>?
    do throws(Refusal) {
      _ = try perform(Command(method: "test.run", caller: Peer(uid: 1, pid: 2))) {
        result = Result(catching: body)
        _ = try result?.get()
        return nil
      }
    } catch {
      if case .failure(let error)? = result { throw error }
      throw error
    }
    guard let result else { preconditionFailure("a command that succeeds has run its body") }
    return try result.get()
  }

  /// The host of services that use the library.
  package var library: Host { library(on: ManualScheduler()) }

  /// Returns the host of services that use the library, with a clock.
  package func library(on scheduler: any Scheduler) -> Host { Host(self, on: scheduler) }
}
