import Apps
import Features
import Configuration
import Connections
import Model
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Search results filtered by the rules of a role.
@Suite(.leavesNothing)
struct SearchRightsTests {
  private let chat: ChatBench

  init() throws {
    chat = try ChatBench(finding: [
      SearchHit(
        id: "chat/1/1", title: "secretroom, kim", text: "tea", source: "chat/rooms/1/messages"),
      SearchHit(id: "threads/1/1", title: "secretthread", text: "tea", source: "threads/1/posts"),
    ])
  }

  private func client(methods: [String], read: [String]) -> TestClient {
    func rules(_ patterns: [String], _ separator: Unicode.Scalar = "/") -> Rules {
      Rules(allow: patterns.compactMap { Pattern($0, separator: separator).map { Rule($0) } })
    }
    return chat.bench.connect(
      as: Role(name: "r", methods: rules(methods, "."), read: rules(read), write: Rules()))
  }

  @Test
  func `the search view requires access to search.find`() {
    let open = #"{"id":1,"method":"open","params":{"binder":"search","view":"s"}}"#
    let describe = #"{"id":2,"method":"describe"}"#
    for (methods, isAllowed) in [([String](), false), (["search.find"], true)] {
      let client = client(methods: methods, read: ["cells/a"])
      #expect(client.call(describe).contains(#""name":"search""#) == isAllowed)
      let opened = client.call(open)
      #expect(opened.contains(#""name":"not_found""#) == !isAllowed, "\(opened)")
      #expect(opened.contains(#""result""#) == isAllowed, "\(opened)")
    }
  }

  @Test
  func `hits are shown only to clients that can read all their sources`() {
    for (read, found) in [
      (["chat/rooms/*/messages", "threads/*/posts"], [String]()),
      (["chat/rooms/*", "threads/*"], []),
      (["chat/rooms/*", "chat/rooms/*/messages", "threads/*/posts"], ["secretroom"]),
      (["chat/rooms/*/messages", "threads/**"], ["secretthread"]),
      (["**"], ["secretroom", "secretthread"]),
    ] {
      let client = client(methods: ["search.*"], read: read)
      let answer = client.call(#"{"id":1,"method":"search.find","params":{"term":"tea"}}"#)
      let told = ["secretroom", "secretthread"].filter { answer.contains($0) }
      #expect(told == found, "\(read)")
      #expect(answer.contains(#""result""#), "\(answer)")
    }
  }
}
