import API
import Configuration
import EventSourcing
import Features
import JSON
import Model
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct UndoTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench { catalog, parts in
      bindLists(catalog, to: ListsService(in: parts.host))
      bindMaps(catalog, to: MapsService(in: parts.host))
      bindUndo(catalog)
    }
    client = bench.connect()
  }

  private func undo(_ params: String, by client: TestClient? = nil) -> String {
    (client ?? self.client).call(#"{"id":1,"method":"undo","params":{\#(params)}}"#)
  }

  private func answer(_ value: String, _ rest: String = "") -> String {
    #"{"jsonrpc":"2.0","id":1,"result":{"value":\#(value)\#(rest)}}"#
  }

  private func set(_ name: String, _ value: String, by client: TestClient? = nil) {
    _ = (client ?? self.client).call(
      #"{"id":0,"method":"cells.set","params":["\#(name)",\#(value)]}"#)
  }

  private func value(of source: String) -> String? {
    client.result(#"{"id":2,"method":"get","params":["\#(source)"]}"#)?["value"]?.text.text
  }

  @Test
  func `an event is undone, and the undo too`() {
    set("a", "1")
    set("a", "2")
    #expect(
      undo(#""seq":2"#)
        == answer(
          #"{"changes":[{"source":"cells/a","from":2,"to":1}],"conflicts":[],"left":[],"through":2,"after":2}"#,
          #","seq":3,"version":3"#))
    #expect(value(of: "cells/a") == "1")
    _ = undo(#""seq":3"#)
    #expect(value(of: "cells/a") == "2")
  }

  @Test
  func `an undo in an empty journal is refused`() {
    #expect(undo(#""seq":1"#).contains("seq_future"))
  }

  @Test
  func `a value that came is removed, and one that was removed comes back`() {
    set("a", "1")
    _ = undo(#""seq":1"#)
    #expect(value(of: "cells/a") == nil)
    #expect(
      undo(#""seq":2"#)
        == answer(
          #"{"changes":[{"source":"cells/a","to":1}],"conflicts":[],"left":[],"through":2,"after":2}"#,
          #","seq":3,"version":3"#))
    #expect(value(of: "cells/a") == "1")
  }

  @Test
  func `a span is undone in one commit, with lists and maps`() {
    set("a", "1")
    _ = client.call(#"{"id":1,"method":"lists.append","params":["l","x"]}"#)
    _ = client.call(#"{"id":1,"method":"lists.append","params":["l","y"]}"#)
    _ = client.call(#"{"id":1,"method":"maps.put","params":["m","k",1]}"#)
    set("a", "2")
    set("a", "3")
    #expect(
      undo(#""since":{"seq":2}"#)
        == answer(
          #"{"changes":[{"source":"lists/l","from":["x","y"],"to":["x"]},"#
            + #"{"source":"maps/m","from":{"k":1},"to":{}},"#
            + #"{"source":"cells/a","from":3,"to":1}],"conflicts":[],"left":[],"through":6,"after":6}"#,
          #","seq":9,"version":4"#))
    #expect(value(of: "lists/l") == #"["x"]"#)
    #expect(value(of: "maps/m") == "{}")
    #expect(value(of: "cells/a") == "1")
  }

  @Test
  func `a preview changes nothing`() {
    set("a", "1")
    set("a", "2")
    #expect(
      undo(#""seq":2,"preview":true"#)
        == answer(
          #"{"changes":[{"source":"cells/a","from":2,"to":1}],"conflicts":[],"left":[],"through":2}"#
        ))
    #expect(bench.host.last == 2)
  }

  @Test
  func `a preview says what a type or the rights would refuse`() throws {
    set("a", "5")
    set("a", "true")
    let type = try #require(Pattern("cells/a"))
    bench.host.use([DeclaredType(type, try ValueType("boolean"))])
    #expect(
      undo(#""seq":2,"preview":true"#).contains(
        #"{"source":"cells/a","from":true,"to":5,"refused":"'cells/a' takes true or false"}"#))
    #expect(client.error(#"{"id":1,"method":"undo","params":{"seq":2}}"#)?.name == .rejected)
    bench.host.use([])
    let reader = bench.connect(uid: 3000, as: .made(read: ["cells/**"], write: []))
    #expect(undo(#""seq":2,"preview":true"#, by: reader).contains(#""refused":"#))
    #expect(!undo(#""seq":2,"preview":true"#).contains("refused"))
  }

  @Test
  func `37: what something else has changed since is refused, unless it is forced`() {
    let other = bench.connect(uid: 2000)
    set("a", "1")
    set("a", "2")
    set("b", "1")
    set("a", "3", by: other)
    let error = client.error(
      #"{"id":1,"method":"undo","params":{"since":{"seq":1},"by":1000}}"#)
    #expect(error?.data["reason"] == .string("changed_since"))
    #expect(error?.message == "event 4 has changed 'cells/a' since")
    #expect(bench.host.last == 4)
    #expect(
      undo(#""since":{"seq":1},"by":1000,"preview":true"#).contains(
        #""conflicts":[{"source":"cells/a","seq":4}]"#))
    _ = undo(#""since":{"seq":1},"by":1000,"force":true"#)
    #expect(value(of: "cells/a") == "1")
    #expect(value(of: "cells/b") == nil)
  }

  @Test
  func `a key of a map is undone alone if only others were changed since`() {
    func put(_ key: String, _ value: Int) {
      _ = client.call(#"{"id":1,"method":"maps.put","params":["m","\#(key)",\#(value)]}"#)
    }
    for (key, value) in [("a", 1), ("b", 1), ("a", 2), ("b", 2), ("c", 3)] { put(key, value) }
    #expect(undo(#""seq":3"#).contains(#""conflicts":[]"#))
    let undone = value(of: "maps/m") ?? ""
    for member in [#""a":1"#, #""b":2"#, #""c":3"#] {
      #expect(undone.contains(member), "\(undone)")
    }
    put("c", 4)
    let error = client.error(#"{"id":1,"method":"undo","params":{"seq":5}}"#)
    #expect(error?.message == "event 7 has changed 'maps/m' since")
    // An event between the selected ones.
    let other = bench.connect(uid: 2000)
    put("a", 7)
    _ = other.call(#"{"id":1,"method":"maps.put","params":["m","d",1]}"#)
    put("a", 8)
    let mixed = client.error(
      #"{"id":1,"method":"undo","params":{"since":{"seq":6},"by":1000}}"#)
    #expect(mixed?.message.hasSuffix("has changed 'maps/m' since") == true)
  }

  @Test(arguments: [
    (#"["x"]"#, #"["x","y"]"#, #"["x","y","z"]"#, #"["x","z"]"#),
    (#"["x","y"]"#, #"["y"]"#, #"["y","z"]"#, #"["x","y","z"]"#),
    (#"["x","y"]"#, #"["X","y"]"#, #"["X","Y"]"#, #"["x","Y"]"#),
    (#"["x","y"]"#, #"["x","Y"]"#, #"["X","Y"]"#, #"["X","y"]"#),
    (#"["x"]"#, #"["x","y"]"#, #"["x"]"#, nil), (#"["x"]"#, #"["y"]"#, #"["z"]"#, nil),
    ("[]", #"["x"]"#, #"["w","x"]"#, #"["w"]"#),
  ])
  func `elements of a list are undone alone if only others were changed since`(
    before: String, after: String, now: String, undone: String?
  ) {
    for list in [before, after, now] {
      _ = client.call(#"{"id":1,"method":"set","params":["lists/l",\#(list)]}"#)
    }
    let error = client.error(#"{"id":1,"method":"undo","params":{"seq":2}}"#)
    #expect((error == nil) == (undone != nil), "\(error?.message ?? "")")
    #expect(value(of: "lists/l") == undone ?? now)
  }

  @Test
  func `a change behind the span is a conflict too`() {
    set("a", "1")
    set("a", "2")
    set("a", "3")
    let error = client.error(#"{"id":1,"method":"undo","params":{"seq":2}}"#)
    #expect(error?.message == "event 3 has changed 'cells/a' since")
  }

  @Test
  func `37: a change while the old values are read is a conflict`() {
    set("a", "1")
    client.send(#"{"id":1,"method":"undo","params":{"seq":1}}"#)
    client.send(#"{"id":2,"method":"cells.set","params":["a",2]}"#)
    let lines = client.settle()
    #expect(lines.contains { $0.contains("event 2 has changed 'cells/a' since") }, "\(lines)")
    #expect(value(of: "cells/a") == "2")
  }

  @Test
  func `only the events of a user, a command or a pattern are undone`() {
    let other = bench.connect(uid: 2000)
    set("a/x", "1")
    set("a/y", "1", by: other)
    _ = client.call(
      #"{"id":1,"method":"cells.set","params":{"name":"b","value":1,"_meta":{"cmd":"c"}}}"#)
    _ = undo(#""since":{"seq":0},"by":2000"#)
    #expect(value(of: "cells/a/y") == nil)
    #expect(value(of: "cells/a/x") == "1")
    _ = undo(#""since":{"seq":0},"source":"cells/a/*""#)
    #expect(value(of: "cells/a/x") == nil)
    #expect(value(of: "cells/b") == "1")
    _ = undo(#""cmd":"c""#)
    #expect(value(of: "cells/b") == nil)
  }

  @Test
  func `37: long values are not undone together, so that the turn ends`() {
    let long = "\"" + String(repeating: "x", count: 200_000) + "\""
    for i in 0..<12 { set("l\(i)", long) }
    for i in 0..<12 { set("l\(i)", "1") }
    let error = client.error(
      #"{"id":1,"method":"undo","params":{"since":{"seq":12},"preview":true}}"#)
    #expect(error?.data["reason"] == .string("too_expensive"))
    #expect(
      client.error(#"{"id":1,"method":"undo","params":{"since":{"seq":12},"source":"cells/l1"}}"#)
        == nil)
  }

  @Test
  func `a role that may not see who has recorded undoes its own events only`() {
    let other = bench.connect(uid: 2000, as: .made(read: ["cells/**"], write: ["cells/**"]))
    set("a", "1", by: other)
    let error = other.error(#"{"id":1,"method":"undo","params":{"seq":1,"by":1000}}"#)
    #expect(error?.name == .permissionDenied)
    _ = undo(#""seq":1,"by":2000"#, by: other)
    #expect(value(of: "cells/a") == nil)
  }

  @Test
  func `events of other services are named`() {
    _ = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"r","sub":"s"}}"#)
    set("a", "1")
    let answer = undo(#""since":{"seq":0}"#)
    #expect(
      answer.contains(
        #""left":[{"stream":"readers/r","reason":"a past value of it cannot be set"}]"#),
      "\(answer)")
  }

  @Test
  func `a role undoes what it may read and write`() throws {
    set("a", "1")
    set("b", "1")
    let reader = bench.connect(
      uid: 3000, as: .made(read: ["cells/**"], write: ["cells/b"]))
    let error = reader.error(#"{"id":1,"method":"undo","params":{"since":{"seq":0}}}"#)
    #expect(error?.name == .permissionDenied)
    #expect(value(of: "cells/b") == "1", "all or nothing")
    _ = undo(#""since":{"seq":0},"source":"cells/b""#, by: reader)
    #expect(value(of: "cells/b") == nil)
    let blind = bench.connect(uid: 3001, as: .made(read: ["cells/b"], write: ["cells/b"]))
    #expect(undo(#""seq":1"#, by: blind).contains(#""changes":[]"#))
  }

  @Test(arguments: [
    (#""seq":9"#, "seq_future"), (#""seq":1,"since":{"seq":0}"#, "invalid_params"),
    (#""by":1000"#, "invalid_params"), (#""since":{}"#, "invalid_params"),
    (#""since":{"time":"now"}"#, "invalid_params"), (#""since":{"seq":9}"#, "seq_future"),
    (#""seq":1,"source":"cells//x""#, "invalid_params"),
  ])
  func `wrong parameters are refused`(params: String, name: String) {
    set("a", "1")
    #expect(
      client.error(#"{"id":1,"method":"undo","params":{\#(params)}}"#)?.name.rawValue == name)
  }
}
