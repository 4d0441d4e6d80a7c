import API
import EventSourcing
import Features
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// A source that is loaded while it is observed.
@Suite(.leavesNothing)
struct LoadingTests {
  private enum Failure: ServiceError {
    case timedOut
    var kind: ServiceErrorKind { .rejected(reason: "upstream_timeout") }
    var description: String { "upstream timed out" }
    var isPassing: Bool { true }
  }

  @Test
  func `a client sees loading, loaded, reloading and failed, and the source continues`() throws {
    let friends = PassthroughSubject<LoadingState<[String], Failure>, Never>()
    let bench = try Bench { catalog, _ in
      catalog.offer("user", "Somebody.")
      catalog.offerLoadingSource("user/friends", "Who they know.", friends.toSignal())
    }
    let client = bench.connect()
    #expect(!friends.hasObservers)
    #expect(
      client.call(#"{"id":1,"method":"subscribe","params":{"source":"user/friends","sub":"l"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"sub":"l","source":"user/friends","kind":"loading","state":"loading"}}"#
    )
    func next(_ state: LoadingState<[String], Failure>) -> String {
      friends.send(state)
      return client.settle().joined(separator: "\n")
    }
    func frame(_ members: String) -> String {
      #"{"jsonrpc":"2.0","method":"next","params":{"sub":"l",\#(members)}}"#
    }
    #expect(next(.loaded(["kim"])) == frame(#""state":"loaded","value":["kim"]"#))
    #expect(next(.loading) == frame(#""state":"reloading","value":["kim"]"#))
    #expect(
      next(.failed(.timedOut))
        == frame(
          #""state":"failed","error":{"code":1000,"message":"upstream timed out","data":{"name":"rejected","retry":true,"reason":"upstream_timeout"}},"value":["kim"]"#
        ))
    #expect(next(.loaded([])) == frame(#""state":"loaded","value":[]"#))
    #expect(
      client.call(#"{"id":2,"method":"get","params":["user/friends"]}"#)
        == #"{"jsonrpc":"2.0","id":2,"result":{"source":"user/friends","kind":"loading","state":"loaded","value":[]}}"#
    )
    _ = client.call(#"{"id":3,"method":"unsubscribe","params":["l"]}"#)
    #expect(!friends.hasObservers)
  }
}
