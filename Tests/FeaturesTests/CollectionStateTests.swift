import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// The queries that a step of an observed list makes on its state.
@Suite(.leavesNothing)
struct CollectionStateTests {
  /// Counts the reads of all elements; it is not part of the state.
  private final class Asked: Codable, Sendable {
    let counts = Counts()

    init() {}
    init(from decoder: any Decoder) {}
    func encode(to encoder: any Encoder) {}
  }

  // `@unchecked Sendable` because states are: a test runs on one thread.
  private final class Counts: @unchecked Sendable {
    var elements = 0
    var emptiness = 0
  }

  private struct Notes: ServiceState, Codable {
    enum Event: ServiceEvent, Codable {
      case added(String)
      case cleared

      static let kinds: Set = ["added", "cleared"]
    }

    var notes: [String] = []
    var asked = Asked()

    static var isCollection: Bool { true }

    mutating func apply(_ event: Event, at place: EventContext) {
      switch event {
      case .added(let note): notes.append(note)
      case .cleared: notes = []
      }
    }

    func value(of source: String) -> JSONText? { nil }
    var sources: [String] { [] }
    static func sources(changedBy event: Event, at place: EventContext) -> [String] {
      ["notes/all"]
    }

    func collection(of source: String) -> SourceCollection? {
      asked.counts.elements += 1
      return .list(LongArray(notes.map { JSONText(string: $0) }))
    }

    func isEmpty(collection source: String) -> Bool {
      asked.counts.emptiness += 1
      return notes.isEmpty
    }

    func changes(by event: Event, at place: EventContext) -> [SourceChange] {
      let step: CollectionChange =
        switch event {
        case .added(let note): .insert(at: notes.count, JSONText(string: note))
        case .cleared: .reset(JSONText(elements: []))
        }
      return [SourceChange(source: "notes/all", seq: place.seq, step: step)]
    }
  }

  @Test(arguments: ["0", #""a \"quoted\" text\u0001é""#, #"{"a":[1,{"b":null}]}"#])
  func `events that are written by hand have the form of the compiler`(text: String) throws {
    let value = try JSONText(parsing: text)
    let coder = EventCoder()
    func expectSame(_ event: some ServiceEvent & Encodable, _ kind: String) {
      var own = ByteBuffer()
      var derived = ByteBuffer()
      let kinds = [event.write(to: &own, coder), coder.write(event, to: &derived)]
      let texts = (own.string, derived.string)
      #expect(kinds == [kind, kind])
      #expect(texts.0 == texts.1)
    }
    expectSame(ListEvent.inserted(at: 12, value: value), "inserted")
    expectSame(MapEvent.put(key: "a \"key\"\u{1}é", value: value), "put")
  }

  @Test
  func `a step asks whether the list is empty, and never reads all elements`() throws {
    let store = MemoryStore()
    let host = ServiceHost(store: store)
    let ledger = Ledger<Notes>("notes", in: host)
    try host.start()
    var told: [(isNew: Bool, isGone: Bool)] = []
    let observation = ledger.changes(of: "notes/all").observeNext {
      told.append(($0.isNew, $0.isGone))
    }
    for i in 0..<10 { try host.run { ledger.record(.added("note \(i)")) } }
    try host.run { ledger.record(.cleared) }
    store.commit()
    #expect(told.map(\.isNew) == [true] + Array(repeating: false, count: 10))
    #expect(told.map(\.isGone) == Array(repeating: false, count: 10) + [true])
    #expect(ledger.committed.asked.counts.elements == 0)
    #expect(ledger.committed.asked.counts.emptiness > 0)
    observation.dispose()
  }
}
