import API
import BinderTesting
import EventSourcing
import JSON
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing

/// Clients that create and remove names for ever do not use up the quota of the state.
@Suite(.leavesNothing)
struct NameChurnTests {
  private let whole: WholeBench
  private let client: TestClient

  init() throws {
    whole = try WholeBench()
    client = whole.bench.connect()
  }

  private func succeed(_ method: String, _ params: String) {
    let answer = client.call(#"{"id":1,"method":"\#(method)","params":\#(params)}"#)
    #expect(answer.contains(#""result""#), "\(method): \(answer)")
  }

  /// Checks that a name which comes and goes costs nothing.
  private func check(_ name: String, _ body: (_ i: Int) -> Void) {
    let before = whole.bench.host.stateBytes
    for i in 0..<20 { body(i) }
    whole.bench.store.commit()
    #expect(whole.bench.host.stateBytes == before, "\(name)")
  }

  @Test
  func `values, lists and maps`() {
    check("cells") { i in
      succeed("cells.set", #"["n\#(i)",1]"#)
      succeed("cells.remove", #"["n\#(i)"]"#)
    }
    check("lists") { i in
      succeed("lists.append", #"["n\#(i)",1]"#)
      succeed("lists.remove", #"["n\#(i)",0]"#)
    }
    check("maps") { i in
      succeed("maps.put", #"["n\#(i)","k",1]"#)
      succeed("maps.clear", #"["n\#(i)"]"#)
    }
    check("bindings") { i in
      succeed("bind", #"{"expr":"cells/a | count ~> cells/b","binding":"b\#(i)","scope":"daemon"}"#)
      succeed("unbind", #"{"binding":"b\#(i)"}"#)
    }
  }

  @Test
  func `leases and locks`() {
    check("leases") { i in
      succeed("lease.grant", #"{"ttl_ms":60000}"#)
      succeed("lease.release", #"["lease/\#(i + 1)"]"#)
    }
    check("locks") { i in
      let holder = whole.bench.connect()
      let line = #"{"id":1,"method":"locks.acquire","params":["n\#(i)"]}"#
      #expect(holder.call(line).contains("token"))
      holder.disconnect()
      whole.bench.time.advance(100)
    }
    check("values under a lease") { i in
      succeed("lease.grant", #"{"ttl_ms":100}"#)
      succeed(
        "cells.set", #"{"name":"n\#(i)","value":1,"_meta":{"lease":"lease/\#(40 + i + 1)"}}"#)
      whole.bench.time.advance(200)
      whole.bench.store.commit()
    }
  }

  @Test
  func `services made of programs`() {
    check("services") { i in
      let provider = whole.bench.connect()
      let line = #"""
        {"id":1,"method":"provide","params":{"service":"n\#(i)","methods":{"go":{"delivery":"queued"}}}}
        """#
      #expect(provider.call(line).contains(#""result""#))
      succeed("n\(i).go", "{}")
      succeed("publish", #"{"source":"n\#(i)/x","value":1,"keep":true}"#)
      succeed("publish", #"{"source":"n\#(i)/x","keep":true}"#)
      provider.disconnect()
      succeed("services.forget", #"["n\#(i)"]"#)
    }
  }

  @Test
  func `readers, rooms, threads and people`() {
    check("readers") { i in
      succeed("subscribe", #"{"source":"events","sub":"s","durable":"n\#(i)"}"#)
      succeed("unsubscribe", #"["s"]"#)
      succeed("readers.remove", #"["n\#(i)"]"#)
    }
    check("threads") { i in
      succeed("threads.start", #"{"name":"n\#(i)"}"#)
      succeed("threads.remove", "[\(i + 1)]")
    }
    check("people") { i in
      succeed("people.create", #"{"name":"n\#(i)"}"#)
      succeed("people.remove", "[\(i + 1)]")
    }
    succeed("users.log_in", #"["anna"]"#)
    check("chat") { i in
      succeed("chat.create", #"{"name":"n\#(i)"}"#)
      succeed("chat.send", #"{"room":\#(i + 1),"text":"x"}"#)
      succeed("chat.remove", "[\(i + 1)]")
    }
  }
}
