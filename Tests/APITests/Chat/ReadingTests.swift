import BinderTesting
import Connections
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing

/// The recorded read positions of a user in the view of a room.
@Suite(.leavesNothing)
struct ReadingTests {
  private let chat: ChatBench
  private let kim: TestClient
  private let lee: TestClient

  init() throws {
    chat = try ChatBench()
    kim = chat.client("kim")
    lee = chat.client("lee", uid: 1001)
    chat.makeRoom("lobby", by: kim)
    _ = lee.call(#"{"id":1,"method":"chat.join","params":{"room":1}}"#)
  }

  /// The recorded read positions of lee, in journal order.
  private var noted: [String] {
    chat.bench.store.commit()
    var noted: [String] = []
    chat.bench.store.replay(after: 0) { events in
      noted += events.records.filter { $0.type == "chat.read" }.map(\.data)
    }
    return noted
  }

  private func say(_ text: String) {
    _ = kim.call(#"{"id":1,"method":"chat.send","params":{"room":1,"text":"\#(text)"}}"#)
  }

  private func note(_ id: Int) -> String { #"{"room":1,"up_to":\#(id),"by":"lee"}"# }

  @Test
  func `read marks are recorded once a second, and no message is unread meanwhile`() throws {
    let other = chat.client("lee", uid: 1001)
    for client in [lee, other] { _ = client.open("room", "r", #"{"room":1}"#) }
    _ = other.open("chat", "c")
    for i in 1...10 {
      say("\(i)")
      _ = lee.settle()
      // All changes of a turn arrive in one frame, and none is unread at its end.
      for line in other.settle() {
        let shown = line.ranges(of: #""unread":"#).last.map { line[$0.upperBound...].prefix(1) }
        #expect(shown ?? "0" == "0")
      }
      #expect(lee.call(#"{"id":3,"method":"chat.unread"}"#).contains(#""unread":0"#))
    }
    #expect(noted == [note(1)])
    chat.time.advance(999)
    #expect(noted == [note(1)])
    chat.time.advance(1)
    _ = lee.settle()
    #expect(noted == [note(1), note(10)])
    chat.time.advance(5000)
    #expect(noted.count == 2)
    #expect(chat.time.count == 0)
    say("11")
    #expect(lee.settle().count > 0)
    #expect(noted.last == note(11))
  }

  @Test
  func `opening a room marks its shown messages as read`() throws {
    say("1")
    let other = chat.client("lee", uid: 1001)
    _ = other.open("chat", "c")
    _ = lee.open("room", "r", #"{"room":1}"#)
    #expect(other.settle().last?.contains(#""unread":0"#) == true)
    #expect(noted == [note(1)])
  }

  @Test
  func `pending read marks are recorded after a view closes or a client leaves`()
    throws
  {
    _ = lee.open("room", "r", #"{"room":1}"#)
    for i in 1...3 { say("\(i)") }
    _ = lee.call(#"{"id":1,"method":"close","params":{"view":"r"}}"#)
    say("4")
    #expect(lee.call(#"{"id":3,"method":"chat.unread"}"#).contains(#""unread":1"#))
    lee.connection.close(.shutdown)
    chat.time.advance(1000)
    #expect(noted == [note(1), note(3)])
    let again = chat.client("lee", uid: 1001)
    #expect(again.call(#"{"id":3,"method":"chat.unread"}"#).contains(#""unread":1"#))
  }

  @Test
  func `a room that is left or removed is not marked as read any more`() throws {
    _ = lee.open("room", "r", #"{"room":1}"#)
    for i in 1...3 { say("\(i)") }
    _ = lee.ask("r", "leave")
    chat.time.advance(1000)
    #expect(noted == [note(1)])
    _ = lee.call(#"{"id":1,"method":"chat.join","params":{"room":1}}"#)
    say("4")
    #expect(lee.call(#"{"id":3,"method":"chat.unread"}"#).contains(#""unread":1"#))
    _ = lee.open("room", "r", #"{"room":1}"#)
    say("5")
    #expect(noted == [note(1), note(4)])
    chat.time.advance(1000)
    #expect(noted == [note(1), note(4), note(5)])
  }
}
