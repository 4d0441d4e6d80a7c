import EventSourcing
import Journal
import ServiceTestSupport
import TestSupport
import Testing

@testable import Features

@Suite(.leavesNothing)
struct JournalLineTests {
  private static let record = Record(
    seq: 7, time: 1_700_000_000_000_000, version: 2, previous: 3, stream: "cells/lamp",
    type: "cells.set", data: #"{"value":1.50}"#, command: "c-\"1", meta: #"{"uid":0}"#)

  private static let lines: [JournalLine] = [
    .head(epoch: "0123abcd"), .event(record),
    .event(
      Record(
        seq: 8, time: 1, version: 1, previous: 0, stream: "a", type: "t", data: "null",
        command: nil, meta: nil)),
    .removal(range: 1...6, services: ["*", "cells"]), .lastRemoval(service: "cells", seq: 6),
    .note(.filedBindings, #"{"a ~> b":6}"#),
    .snapshot(Snapshot(service: "cells", seq: 6, schema: 2, data: #"{"cells/a":1}"#)),
    .end(count: 2),
  ]

  @Test(arguments: lines.indices)
  func `a line is parsed back to the event that it was written from`(index: Int) throws {
    let text = Self.lines[index].text
    #expect(!text.contains("\n"))
    #expect(try JournalLine(text).text == text)
  }

  @Test
  func `every digit and byte of an event is preserved`() throws {
    guard case .event(let record) = try JournalLine(JournalLine.event(Self.record).text) else {
      Issue.record("no event")
      return
    }
    #expect(record == Self.record)
  }

  @Test
  func `a line whose snapshot has very many members is parsed`() throws {
    let data = "{" + (0..<5_000).map { #""cells/n\#($0)":1"# }.joined(separator: ",") + "}"
    let line = JournalLine.snapshot(Snapshot(service: "cells", seq: 9, schema: 2, data: data))
    #expect(try JournalLine(line.text).text == line.text)
  }

  @Test(arguments: [
    ("", "not JSON"), ("[]", "not an object"), ("{}", "neither an event"),
    (#"{"what":{}}"#, "unknown line 'what'"),
    (#"{"journal":{"format":2,"epoch":"a"}}"#, "format 2, this program knows 1"),
    (#"{"seq":1}"#, "'stream' is missing"),
    (#"{"seq":-1,"stream":"a"}"#, "'type' is missing"),
    (
      #"{"seq":1.5,"time":1,"stream":"a","version":1,"previous":0,"type":"t","data":1}"#,
      "'seq' is not an integer"
    ),
    (
      #"{"seq":1,"time":1,"stream":"a b","version":1,"previous":0,"type":"t","data":1}"#,
      "'stream': a name is made of"
    ),
    (
      #"{"seq":1,"time":1,"stream":"a","version":1,"previous":0,"type":"t","data":1,"x":1}"#,
      "an event has no 'x'"
    ),
    (#"{"note":{"key":"later","text":""}}"#, "there is no note 'later'"),
    (#"{"note":{"key":"age","text":"1"}}"#, "there is no note 'age'"),
    (#"{"note":{"key":"filedBindings","text":{}}}"#, "'text' is not a string"),
    (#"{"end":{"events":"2"}}"#, "'events' is not an integer"),
  ])
  func `an invalid line is refused with the rule that it breaks`(text: String, rule: String) {
    do {
      _ = try JournalLine(text)
      Issue.record("taken: \(text)")
    } catch {
      #expect("\(error)".hasPrefix(rule), "\(error)")
    }
  }

  private func check(_ lines: [JournalLine]) -> String? {
    var checker = JournalLineChecker()
    do {
      for line in lines { try checker.check(line) }
      try checker.finish()
      return nil
    } catch {
      return "\(error)"
    }
  }

  private func event(
    _ seq: UInt64, time: Int64 = 5, _ stream: String = "a", version: UInt64 = 1,
    previous: UInt64 = 0
  ) -> JournalLine {
    .event(
      Record(
        seq: seq, time: time, version: version, previous: previous, stream: stream, type: "t",
        data: "1", command: nil, meta: nil))
  }

  @Test
  func `lines must be in order`() {
    let head = JournalLine.head(epoch: "e")
    #expect(check([head, event(1), event(2, version: 2, previous: 1), .end(count: 2)]) == nil)
    // Removed events leave gaps in the versions.
    #expect(check([head, event(9, version: 4, previous: 5), .end(count: 1)]) == nil)
    // A stream without state was forgotten, and has begun again.
    let again = event(3, version: 5, previous: 0)
    #expect(
      check([head, event(1), event(2, version: 2, previous: 1), again, .end(count: 3)]) == nil)
    #expect(check([event(1)]) == "the first line is not the head of a journal")
    #expect(check([head, head]) == "a second head")
    #expect(check([head, event(1)]) == "the end is missing: the file is truncated")
    #expect(check([head, event(1), .end(count: 2)]) == "2 events were exported, the file has 1")
    #expect(check([head, .end(count: 0), event(1)]) == "there are lines after the end")
    #expect(check([head, event(2), event(2, "b")]) == "'seq' does not increase")
    #expect(check([head, event(1, time: 5), event(2, time: 4, "b")]) == "'time' goes back")
    #expect(
      check([head, event(1), event(2, version: 2, previous: 0)])
        == "'version' or 'previous' does not follow the event before in its stream")
  }
}
