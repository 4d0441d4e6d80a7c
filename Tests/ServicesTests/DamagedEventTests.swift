import Journal
import Services
import Testing

/// Events that no service records, and that a journal can hold all the same.
struct DamagedEventTests {
  /// Starts services on a journal with events, after `[1]` in the list `lists/a`.
  private func start(
    _ events: [(stream: String, type: String, data: String)]
  ) throws(JournalFault) -> (people: PeopleService, threads: ThreadsService, host: ServiceHost) {
    let store = MemoryStore()
    let first: (stream: String, type: String, data: String) = (
      "lists/a", "lists.inserted", #"{"at":0,"value":1}"#
    )
    for (stream, type, data) in [first] + events {
      _ = store.append(Draft(stream: stream, type: type, data: data), at: 0)
    }
    store.commit()
    let host = ServiceHost(store: store)
    let (people, threads) = (PeopleService(in: host), ThreadsService(in: host))
    let others: [AnyObject] = [
      CellsService(in: host), ListsService(in: host), MapsService(in: host),
      ReadersService(in: host),
    ]
    defer { withExtendedLifetime(others) {} }
    try host.start()
    return (people, threads, host)
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
    ("lists/a", "lists.inserted", #"{"at":999}"#, "its data lacks what it says"),
    ("cells/a", "cells.set", "{}", "its data lacks what it says"),
    ("cells/a", "cells.set", "[]", "its data lacks what it says"),
    ("maps/a", "maps.put", #"{"value":1}"#, "its data lacks what it says"),
    ("people/1", "people.created", #"{"name":"x","color":"red"}"#, "its data lacks what it says"),
    (
      "readers/a", "readers.opened", #"{"seq":9223372036854775807}"#,
      "position 9223372036854775807 is after the event"
    ),
  ])
  func `an event that cannot be ends the start with its position and the rule`(
    stream: String, type: String, data: String, rule: String
  ) {
    let fault = #expect(throws: JournalFault.self) { _ = try start([(stream, type, data)]) }
    #expect(fault == .damaged(seq: 2, detail: "\(type) in \(stream): \(rule)"))
  }

  @Test
  func `an event of a kind that is not known is passed over`() throws {
    let started = try start([("cells/a", "cells.melted", "{}"), ("x", "y.z", "{}")])
    #expect(started.host.durable == 3)
  }

  @Test
  func `after the last number nobody gets one`() throws {
    let last = Int.max
    let (people, threads, host) = try start([
      ("people/\(last)", "people.created", ##"{"name":"x","color":"#808080"}"##),
      ("threads/1", "threads.started", #"{"name":"x"}"#),
      ("threads/1", "threads.posted", #"{"post":\#(last),"author":1,"body":"x"}"#),
      ("threads/\(last)", "threads.started", #"{"name":"x"}"#),
    ])
    func run(_ body: () throws -> Void) throws {
      _ = try host.perform(Command(method: "test.run", caller: Caller(uid: 1, pid: 2))) {
        try body()
        return nil
      }
    }
    try run {
      #expect(throws: PeopleError.noNumberLeft) { try people.create(name: "y") }
      #expect(throws: ThreadsError.noNumberLeft) { try threads.start(name: "y") }
      #expect(throws: ThreadsError.noNumberLeft) { try threads.post("y", to: 1, by: 1) }
    }
    #expect(host.last == 5)
  }
}
