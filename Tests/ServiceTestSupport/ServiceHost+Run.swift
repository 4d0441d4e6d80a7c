package import EventSourcing
internal import Model

extension ServiceHost {
  /// Runs a method as a command, and rethrows the error of its service.
  @discardableResult
  package func run<Value>(_ body: () throws -> Value) throws -> Value {
    var value: Value?
    do throws(Refusal) {
      _ = try perform(Command(method: "test.run", caller: Peer(uid: 1, pid: 2))) {
        value = try body()
        return nil
      }
    } catch .service(let error) {
      throw error
    }
    guard let value else { preconditionFailure("a command that succeeds has run its body") }
    return value
  }
}
