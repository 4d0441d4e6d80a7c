import API
import Connections
import EventSourcing
import Features
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Answers to intents whose view exceeds a limit or does not fit into a line.
@Suite(.leavesNothing)
struct ViewLimitTests {
  private struct Wide: Decodable {
    let bytes: Int
  }

  /// Returns a bench with a view that opens others and counts them in a cell.
  private func bench() throws -> (Bench, TestClient) {
    let bench = try Bench()
    let cells = bench.cells
    bench.catalog.fill { catalog in
      catalog.offerView("root", of: "cells", "A root.") { view, _ in
        view.intent("open", Wide.self)
          .calls { _ in _ = try cells.add(JSONNumber(1), to: "opened") }
          .opens("wide") { child, wide in
            child.assign("text", String(repeating: "x", count: wide.bytes))
            child.tabs(("tab", { _ in }))
          }
      }
    }
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"open","params":{"binder":"root","view":"r"}}"#)
    return (bench, client)
  }

  private func open(_ bytes: Int, _ meta: String = "") -> String {
    #"{"id":2,"method":"intent","params":{"view":"r","name":"open","args":{"bytes":\#(bytes)}\#(meta)}}"#
  }

  @Test
  func `an intent whose view does not fit into a line is refused and rolled back`() throws {
    let (bench, client) = try bench()
    let cmd = #","_meta":{"cmd":"c"}"#
    for _ in 0..<2 {
      let error = client.error(open(70_000, cmd))
      #expect(error?.name == .resultTooLarge)
      #expect(error?.data["limit"] == .string("line_out"))
      #expect(error?.data["max"] == .number(JSONNumber(64 << 10)))
      #expect(error?.message.contains("the view 'wide'") == true)
      #expect(client.connection.views.all.count == 1)
      #expect(bench.host.last == 0)
    }
    client.send(open(60_000, #","_meta":{"cmd":"d"}"#))
    let lines = client.settle()
    #expect(lines.first?.contains(#""opened":"r.3""#) == true, "a handle is not used twice")
    #expect(lines.count == 3)
    #expect(bench.host.last == 1)
  }

  @Test
  func `an intent whose view or tab exceeds the limit of views is refused`() throws {
    let (bench, client) = try bench()
    for _ in 0..<62 {
      _ = client.call(#"{"id":1,"method":"open","params":{"binder":"system"}}"#)
    }
    for count in [63, 64] {
      #expect(client.connection.views.all.count == count)
      let error = client.error(open(1))
      #expect(error?.name == .limitReached)
      #expect(error?.data["limit"] == .string("views"))
      #expect(error?.data["max"] == .number(JSONNumber(64)))
      #expect(client.connection.views.all.count == count)
      #expect(bench.host.last == 0)
      _ = client.call(#"{"id":1,"method":"open","params":{"binder":"system","view":"last"}}"#)
    }
    _ = client.call(#"{"id":1,"method":"close","params":{"view":"last"}}"#)
    _ = client.call(#"{"id":1,"method":"close","params":{"view":2}}"#)
    client.send(open(1))
    #expect(client.settle().count == 3)
    #expect(client.connection.views.all.count == 64)
  }
}
