import API
import BinderTesting
import Connections
import JSON
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// Views that are opened and closed many times.
///
/// The tests of the views themselves do so 100,000 times without services.
@Suite(.leavesNothing)
struct ManyViewsTests {
  @Test
  func `opening and closing ten thousand views of many kinds leaks nothing`() throws {
    let nodes = LiveNodes()
    try LiveNodes.$counter.withValue(nodes) {
      let chat = try ChatBench()
      let client = chat.client("kim")
      _ = client.call(#"{"id":1,"method":"threads.start","params":["Tea"]}"#)
      chat.makeRoom("lobby", by: client)
      let context = try #require(client.connection.handler as? CallContext)
      let views = try [
        ("cell", #"{"name":"lamp"}"#), ("thread", #"{"id":1}"#), ("room", #"{"room":1}"#),
        ("chat", "{}"),  // with main, rooms and profile within
      ].map { ($0, try JSONText(parsing: $1)) }
      var before: [String: Int] = [:]
      var count = 0
      while count < 10_000 {
        for (name, arguments) in views {
          let view = try context.openView(name, nil, arguments)
          count += client.connection.views.all.count
          _ = client.connection.views.close(view)
        }
        if before.isEmpty { before = nodes.counts }
      }
      #expect(nodes.counts == before, "nobody observes what nobody shows")
      #expect(client.connection.views.all.isEmpty)
      #expect(chat.time.count == 0)
      #expect(client.received() == [], "and no notification about them")
    }
  }
}
