import Apps
import EventSourcing
import Features
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing

/// Invalid events that no service records, but a damaged journal can contain.
@Suite(.leavesNothing)
struct DamagedEventTests {
  /// The services that were started.
  private struct Started {
    let people: PeopleService
    let threads: ThreadsService
    let chat: ChatService
    let host: ServiceHost
  }

  /// Starts services on a journal with events, after `[1]` in the list `lists/a`.
  private func start(
    _ events: [(stream: String, type: String, data: String)]
  ) throws(JournalError) -> Started {
    let store = MemoryStore()
    let first: (stream: String, type: String, data: String) = (
      "lists/a", "lists.inserted", #"{"at":0,"value":1}"#
    )
    for (stream, type, data) in [first] + events {
      _ = store.append(Draft(stream: stream, type: type, data: data), at: 0)
    }
    store.seal(meta: nil)
    store.commit()
    let host = ServiceHost(store: store)
    let (people, threads) = (PeopleService(in: host.library), ThreadsService(in: host.library))
    let chat = ChatService(in: host.library)
    let others: [AnyObject] = [
      CellsService(in: host), ListsService(in: host), MapsService(in: host),
      ReadersService(in: host), chat,
      UsersService(in: host.library, secrets: CountedSecrets()),
      FeedsService(in: host.library, web: FakeWeb(), reader: FakeReader()),
      TodoService(in: host.library),
    ]
    defer { withExtendedLifetime(others) {} }
    try host.start()
    return Started(people: people, threads: threads, chat: chat, host: host)
  }

  @Test(arguments: [
    ("lists/a", "lists.inserted", #"{"at":999,"value":1}"#, "index 999 is not within a list of 1"),
    (
      "lists/a", "lists.inserted", #"{"at":-9223372036854775808,"value":1}"#,
      "index -9223372036854775808 is not within a list of 1"
    ),
    ("lists/b", "lists.inserted", #"{"at":1,"value":1}"#, "index 1 is not within a list of 0"),
    ("lists/a", "lists.updated", #"{"at":1,"value":1}"#, "index 1 is not within a list of 1"),
    ("lists/a", "lists.removed", #"{"at":-1}"#, "index -1 is not within a list of 1"),
    ("lists/a", "lists.moved", #"{"from":0,"to":1}"#, "index 1 is not within a list of 1"),
    ("lists/b", "lists.moved", #"{"from":0,"to":0}"#, "index 0 is not within a list of 0"),
    ("lists/a", "lists.inserted", #"{"at":999}"#, "its data is invalid"),
    ("cells/a", "cells.set", "{}", "its data is invalid"),
    ("cells/a", "cells.set", "[]", "its data is invalid"),
    ("maps/a", "maps.put", #"{"value":1}"#, "its data is invalid"),
    ("people/1", "people.created", #"{"name":"x","color":"red"}"#, "its data is invalid"),
    (
      "readers/a", "readers.opened", #"{"seq":9223372036854775807}"#,
      "position 9223372036854775807 is after the event"
    ),
    ("chat/rooms/1", "chat.said", said(1, in: 1), "there is no room 1"),
    ("chat/rooms/0", "chat.created", created(0), "number 0 is not after 0"),
    ("users/kim", "users.token_issued", #"{"id":-1,"hash":"x"}"#, "number -1 is not after 0"),
    ("users/kim", "users.edited", "{}", "its data is invalid"),
    ("todo/1", "todo.added", "{}", "its data is invalid"),
    ("feeds/a", "feeds.dropped", #"{"at":0}"#, "there is no feed a"),
    ("feeds/a", "feeds.found", "{}", "its data is invalid"),
    ("chat/rooms/1", "chat.left", "{}", "its data is invalid"),
  ])
  func `an invalid event ends the start with its position and the broken rule`(
    stream: String, type: String, data: String, rule: String
  ) {
    let fault = #expect(throws: JournalError.self) { _ = try start([(stream, type, data)]) }
    #expect(fault == .corrupt(seq: 2, detail: "\(type) in \(stream): \(rule)"))
  }

  private static func created(_ id: Int) -> String {
    #"{"id":\#(id),"name":"tea","topic":"","by":"kim"}"#
  }

  private static func said(_ id: Int, in room: Int) -> String {
    #"{"room":\#(room),"id":\#(id),"by":"kim","text":"hi"}"#
  }

  private static let episode =
    #"{"id":1,"title":"one","url":null,"audio":null,"published":null,"played":false,"key":"k"}"#

  @Test(arguments: [
    ("said", said(3, in: 1), "message 3 does not follow on 1"),
    ("said", said(.max, in: 1), "message \(Int.max) does not follow on 1"),
    ("edited", #"{"room":1,"id":2,"text":"x"}"#, "room 1 has 1 messages, and none 2"),
    (
      "edited", #"{"room":1,"id":\#(Int.min),"text":"x"}"#,
      "room 1 has 1 messages, and none \(Int.min)"
    ),
    ("message_removed", #"{"room":1,"id":0,"by":"x"}"#, "room 1 has 1 messages, and none 0"),
    ("read", #"{"room":1,"up_to":-1,"by":"kim"}"#, "room 1 has 1 messages, and none -1"),
    ("read", #"{"room":1,"up_to":2,"by":"kim"}"#, "room 1 has 1 messages, and none 2"),
    ("created", created(1), "number 1 is not after 1"),
  ])
  func `an invalid chat event ends the start`(kind: String, data: String, rule: String) {
    let fault = #expect(throws: JournalError.self) {
      _ = try start([
        ("chat/rooms/1", "chat.created", Self.created(1)),
        ("chat/rooms/1/messages", "chat.said", Self.said(1, in: 1)),
        ("chat/rooms/1/messages", "chat.\(kind)", data),
      ])
    }
    #expect(
      fault == .corrupt(seq: 4, detail: "chat.\(kind) in chat/rooms/1/messages: \(rule)"))
  }

  @Test(arguments: [
    ("dropped", #"{"at":1}"#, "index 1 is not within 1 episodes"),
    ("marked", #"{"at":-1,"id":1,"played":true}"#, "index -1 is not within 1 episodes"),
    (
      "changed", #"{"at":\#(Int.max),"episode":\#(episode)}"#,
      "index \(Int.max) is not within 1 episodes"
    ),
    ("found", #"{"episode":\#(episode)}"#, "number 1 is not after 1"),
  ])
  func `an invalid feed event ends the start`(kind: String, data: String, rule: String) {
    let fault = #expect(throws: JournalError.self) {
      _ = try start([
        ("feeds/a", "feeds.subscribed", #"{"url":"http://a/"}"#),
        ("feeds/a", "feeds.found", #"{"episode":\#(Self.episode)}"#),
        ("feeds/a", "feeds.\(kind)", data),
      ])
    }
    #expect(fault == .corrupt(seq: 4, detail: "feeds.\(kind) in feeds/a: \(rule)"))
  }

  @Test
  func `an event of an unknown type is skipped`() throws {
    let started = try start([("cells/a", "cells.melted", "{}"), ("x", "y.z", "{}")])
    #expect(started.host.durable == 3)
  }

  @Test(arguments: [
    ("chat/rooms", "chat.created", created(.max)),
    ("users", "users.token_issued", #"{"id":\#(Int.max),"hash":"x"}"#),
  ])
  func `a second event with the last number ends the start`(
    stream: String, type: String, data: String
  ) {
    let fault = #expect(throws: JournalError.self) {
      _ = try start([("\(stream)/1", type, data), ("\(stream)/2", type, data)])
    }
    #expect(
      fault
        == .corrupt(
          seq: 3, detail: "\(type) in \(stream)/2: number \(Int.max) is not after \(Int.max)"))
  }

  @Test
  func `no id is assigned after the last number`() throws {
    let last = Int.max
    let started = try start([
      ("chat/rooms/\(last)", "chat.created", Self.created(last)),
      ("users/kim", "users.token_issued", #"{"id":\#(last),"hash":"x"}"#),
      ("people/\(last)", "people.created", ##"{"name":"x","color":"#808080"}"##),
      ("threads/1", "threads.started", #"{"name":"x"}"#),
      ("threads/1", "threads.posted", #"{"post":\#(last),"author":1,"body":"x"}"#),
      ("threads/\(last)", "threads.started", #"{"name":"x"}"#),
    ])
    let (people, threads, chat) = (started.people, started.threads, started.chat)
    let host = started.host
    func run(_ body: () throws -> Void) throws {
      _ = try host.perform(Command(method: "test.run", caller: Peer(uid: 1, pid: 2))) {
        try body()
        return nil
      }
    }
    try run {
      #expect(throws: ThreadsError.noNumberLeft) { try threads.start(name: "y") }
      #expect(throws: ThreadsError.noNumberLeft) { try threads.post("y", to: 1, by: 1) }
      #expect(throws: ChatError.noNumberLeft) { _ = try chat.create("y", topic: "", by: "kim") }
    }
    #expect(throws: Refusal.self) { try run { _ = try people.create(name: "y") } }
    #expect(host.last == 7)
  }
}
