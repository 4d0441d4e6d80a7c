import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing

/// The lists of a later version, as `Documentation/versioning.md` works them through.
private struct LaterLists: ServiceState, Codable {
  enum Event: ServiceEvent, Codable {
    case inserted(at: Int, values: [JSONText])
    case removed(at: Int)

    static let kinds: Set = ["inserted", "removed"]

    static let upcasters: [String: [Upcaster]] = [
      "inserted": [
        // Form 1 is {"at":0,"value":"milk"}; form 2 has a list of values.
        { data in
          var members = data.members ?? [:]
          let value = members.removeValue(forKey: "value") ?? .null
          members["values"] = JSONText(elements: [value])
          return JSONText(members: members)
        }
      ]
    ]
  }

  var lists: [String: [JSONText]] = [:]

  mutating func apply(_ event: Event, at place: EventContext) {
    switch event {
    case .inserted(let at, let values):
      lists[place.stream, default: []].insert(contentsOf: values, at: at)
    case .removed(let at): lists[place.stream]?.remove(at: at)
    }
  }

  func value(of source: String) -> JSONText? { lists[source].map(JSONText.init(elements:)) }
  var sources: [String] { Array(lists.keys) }
  static func sources(changedBy event: Event, at place: EventContext) -> [String] { [place.stream] }
}

/// A change of the form of an event, from the lists of this version to those of a later one.
@Suite(.leavesNothing)
struct FormChangeTests {
  private let store = MemoryStore()

  private func perform(
    _ host: ServiceHost, _ command: () throws -> Void
  ) throws {
    _ = try host.perform(Command(method: "lists.append", caller: Peer(uid: 1, pid: 2))) {
      try command()
      return nil
    }
    store.commit()
  }

  /// Appends milk and tea with the lists of this version.
  private func writeOld() throws {
    let host = ServiceHost(store: store)
    let lists = ListsService(in: host)
    try host.start()
    for value in ["milk", "tea"] {
      try perform(host) { _ = try lists.append(JSONText(string: value), to: "shopping") }
    }
  }

  private func startLater() throws -> (ServiceHost, Ledger<LaterLists>) {
    let host = ServiceHost(store: store)
    let lists = Ledger<LaterLists>("lists", in: host)
    try host.start()
    return (host, lists)
  }

  private var records: [Record] {
    var records: [Record] = []
    store.replay(after: 0) { records += $0.records }
    return records
  }

  @Test
  func `a later version reads the events of this one and writes its own form`() throws {
    try writeOld()
    let (host, lists) = try startLater()
    #expect(lists.value(of: "lists/shopping")?.text == #"["milk","tea"]"#)
    try perform(host) {
      let values = ["salt", "rice"].map { JSONText(string: $0) }
      lists.record(.inserted(at: 1, values: values), in: "lists/shopping")
    }
    #expect(lists.value(of: "lists/shopping")?.text == #"["milk","salt","rice","tea"]"#)
    #expect(records.map(\.type) == ["lists.inserted", "lists.inserted", "lists.inserted@2"])
    #expect(records[0].data == #"{"at":0,"value":"milk"}"#)
  }

  @Test
  func `this version refuses a journal with events of the later one`() throws {
    try writeOld()
    let (host, lists) = try startLater()
    try perform(host) {
      lists.record(.inserted(at: 0, values: [.null]), in: "lists/shopping")
    }
    #expect(
      throws: JournalError.notUnderstood(
        seq: 3,
        detail: "it is lists.inserted@2, and this program knows lists.inserted up to version 1")
    ) { try self.writeOld() }
  }

  @Test
  func `the document shows the code of this test and of the cells`() throws {
    let root = #filePath.replacing("Tests/FeaturesTests/FormChangeTests.swift", with: "")
    let document = Files.text(of: root + "Documentation/versioning.md")
    let blocks = document.split(separator: "```swift\n").dropFirst().map { block in
      String(block[..<(block.firstRange(of: "\n```")?.lowerBound ?? block.endIndex)])
    }
    func words(_ text: String) -> String {
      text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
    let sources = [#filePath, root + "Sources/Features/Cells/Cells.swift"].map {
      words(Files.text(of: $0))
    }
    #expect(blocks.count == 2)
    for (block, source) in zip(blocks, sources) { #expect(source.contains(words(block))) }
  }
}
