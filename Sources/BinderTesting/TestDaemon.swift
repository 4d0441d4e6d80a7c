internal import API
public import Binder
internal import BinderDaemon
internal import Configuration
internal import Connections
internal import EventSourcing
internal import Features
public import JSON
internal import Journal
internal import JournalMemory
internal import Model
internal import Signals
internal import Wire

/// A daemon in the process of a test: without a socket, without a disk, in virtual time.
///
/// Everything else is as in the real one: the services, the journal's rules, roles, views, bindings.
public final class TestDaemon {
  /// The name of the daemon in the reply to `hello`.
  private static let name = "test"

  /// The time of the first event: 2 January 2026, in microseconds since 1970.
  private static let firstTime: Int64 = 1_767_323_045_000_000

  private let services: Daemon.Services
  private let build: (Host, Binder.Catalog) -> Void
  private let time = ManualTime()
  private var store: MemoryStore
  private var run: Run
  private var nextFailure: JournalError?
  private var holdsCommits = false
  private let marks = StateMarks()

  /// Starts a daemon.
  ///
  /// - Parameters:
  ///   - services: The standard services that it has.
  ///   - lines: The lines of an exported journal, which it starts with; see `bindctl journal export`.
  ///   - build: Makes the services and binds clients to them, as for ``Daemon/main(_:_:_:)``.
  /// - Throws: The mistakes of the program; the event that a service cannot read.
  public init(
    _ services: Daemon.Services = .standard, journal lines: String? = nil,
    _ build: @escaping (Host, Binder.Catalog) -> Void
  ) throws {
    (self.services, self.build) = (services, build)
    AppliedEvent.reportTraps()
    let time = time
    let clock = { Self.firstTime + Int64(time.milliseconds) * 1_000 }
    store =
      if let lines {
        MemoryStore(epoch: "test", records: try records(of: lines), clock: clock)
      } else {
        MemoryStore(epoch: "test", clock: clock)
      }
    run = try Run(store, services, time, build, marks)
  }

  deinit { run.end(time) }

  // MARK: Clients

  /// Connects a client.
  ///
  /// - Parameters:
  ///   - uid: The user of its process.
  ///   - role: What it may do.
  public func connect(uid: UInt32 = 1000, role: TestRole = .owner) -> TestClient {
    TestClient(self, run.connect(Peer(uid: uid, pid: 42, groups: [100], program: "test"), role))
  }

  /// The events of the journal, in order.
  public var events: [TestEvent] { store.records.map(TestEvent.init) }

  // MARK: Time

  /// Lets time pass, and runs what is due.
  public func advance(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    time.advance(UInt64(max(0, seconds * 1_000 + attoseconds / 1_000_000_000_000_000)))
    finishTurn()
  }

  // MARK: Commits

  /// Lets what is recorded wait, as a slow disk does, until ``releaseCommits()``.
  ///
  /// Then the pending and the committed state differ, so that a test finds a command that is checked
  /// against the wrong one. A call that records is not answered; see ``TestClient/begin(_:_:)``.
  public func holdCommits() { holdsCommits = true }

  /// Commits what has waited.
  public func releaseCommits() {
    holdsCommits = false
    finishTurn()
  }

  // MARK: Faults

  /// Stops the daemon in order, and starts it again on its journal.
  ///
  /// As in a real one, the states are saved as snapshots, and read by the next start.
  ///
  /// The clients are disconnected.
  ///
  /// - Throws: The event that a service cannot read.
  public func restart() throws {
    releaseCommits()
    run.saveSnapshots()
    run.end(time)
    try start(store.killed())
  }

  /// Kills the daemon, and starts it again on its journal.
  ///
  /// Only what is durable is there. The clients are disconnected.
  ///
  /// - Throws: The event that a service cannot read.
  public func crash() throws {
    let store = store.killed(upTo: store.durable)
    holdsCommits = false
    run.end(time)
    try start(store)
  }

  /// Lets the next commit fail, as a full disk does: its events are lost, and its commands get
  /// `read_only`.
  public func failNextCommit() {
    nextFailure = .readOnly(reason: "the disk is full", outcome: .none)
  }

  /// Replays the journal into a new state, and compares the states of the daemon's own services: all
  /// sources, and what clients do not see.
  ///
  /// It finds an `apply` that depends on something else than the event and its context.
  ///
  /// - Throws: ``ReplayDifference`` with the first source whose value differs, and the event with which
  ///   that began.
  public func checkReplay() throws {
    releaseCommits()
    // Without the snapshots, from which a start would begin.
    let events = MemoryStore(epoch: "test", records: store.records, clock: { [store] in store.now })
    let again = try Run(events, services, ManualTime(), build, nil)
    defer { again.end(ManualTime()) }
    let (mine, replayed) = (run.values, again.values)
    for source in Set(mine.keys).union(replayed.keys).sorted()
    where mine[source] != replayed[source] {
      let service = String(source.prefix { $0 != "/" })
      throw ReplayDifference(
        source: source, value: mine[source], replayed: replayed[source],
        event: marks.firstDifference(of: service, in: store.records, run.host))
    }
    let (state, replayedState) = (run.states, again.states)
    for service in state.keys.sorted() where state[service] != replayedState[service] {
      throw ReplayDifference(
        source: "the state of \(service)", value: state[service], replayed: replayedState[service],
        event: marks.firstDifference(of: service, in: store.records, run.host))
    }
  }

  private func start(_ store: MemoryStore) throws {
    self.store = store
    run = try Run(store, services, time, build, marks)
  }

  /// Commits what was recorded, and sends the answers.
  func finishTurn() {
    for _ in 0..<8 {
      if holdsCommits {
        run.table.flush()
        continue
      }
      if let failure = nextFailure, store.last > store.durable {
        nextFailure = nil
        store.reject(failure)
      }
      store.commit()
      store.read()
      run.jobs.runAll()
      run.table.flush()
    }
  }

  /// The services and clients of a daemon, from a start to a stop.
  private final class Run {
    let table: ConnectionTable
    let host: ServiceHost
    let jobs = TestJobs()
    private let catalog: API.Catalog
    private let rights: RightsTable
    private let standard: StandardFeatures
    private let features: [Feature]
    private let own: Host
    private let bag = DisposeBag()

    init(
      _ store: MemoryStore, _ services: Daemon.Services, _ time: ManualTime,
      _ build: @escaping (Host, Binder.Catalog) -> Void, _ marks: StateMarks?
    ) throws {
      host = ServiceHost(store: store)
      table = ConnectionTable(
        limits: Limits(), now: { time.milliseconds }, clock: { time.nanoseconds }, scheduler: time)
      host.freeEvents = { [context = table.context] in context.free($0, for: $1) }
      catalog = API.Catalog(over: host)
      rights = RightsTable(for: catalog)
      standard = StandardFeatures(
        StandardServices(rawValue: services.rawValue), in: host, on: time, table.context,
        nanoseconds: { time.nanoseconds })
      own = Host(host, on: time, jobs: jobs)
      let feature = try Daemon.feature(own, build)
      features = standard.features + [feature]
      let server = ServerInfo(
        name: TestDaemon.name, version: "0", now: { [host] in host.now },
        uptime: { time.milliseconds }, userName: { _ in nil })
      catalog.fill { catalog in
        standard.bindEngine(catalog, server) { DaemonStats() }
        for feature in features { feature.bind(catalog) }
      }
      try host.start()
      marks?.observe(host, own.serviceNames).dispose(in: bag)
      bindTable(table, to: catalog, bag: bag)
      for feature in features { feature.begin() }
    }

    func connect(_ peer: Peer, _ role: TestRole) -> TestConnection {
      let connection = table.connect(peer)
      bindConnection(connection, to: rights[role.engine])
      return TestConnection(connection)
    }

    /// The values of all sources of the daemon's own services, by name.
    var values: [String: JSONText] {
      var values: [String: JSONText] = [:]
      for service in own.serviceNames {
        catalog.forEachValue(of: service) { values[$0] = $1 }
      }
      return values
    }

    /// The whole states of the daemon's own services, with sorted members.
    var states: [String: JSONText] {
      host.stateTexts(of: own.serviceNames).mapValues { $0.value.sorted.text }
    }

    /// Saves the states, as a daemon does that is stopped.
    func saveSnapshots() { host.saveSnapshots() }

    func end(_ time: ManualTime) {
      table.closeAll(.shutdown)
      table.flush()
      for feature in features { feature.stop() }
      for feature in features { feature.close() }
      standard.liveBindings?.end()
      rights.keep(only: [])
      catalog.end()
      bag.dispose()
    }
  }
}

extension JSONValue {
  /// The value with sorted members: those of a dictionary are in no order.
  var sorted: JSONValue {
    switch self {
    case .object(let object):
      var sorted: JSONObject = [:]
      for member in object.members.sorted(by: { $0.name < $1.name }) {
        sorted[member.name] = member.value.sorted
      }
      return .object(sorted)
    case .array(let elements): return .array(elements.map(\.sorted))
    default: return self
    }
  }
}

/// Returns the events of the lines of an exported journal.
private func records(of lines: String) throws -> [Record] {
  var checker = JournalLineChecker()
  var records: [Record] = []
  var number = 0
  for text in lines.split(separator: "\n") {
    number += 1
    do throws(JournalLine.Fault) {
      let line = try JournalLine(String(text))
      try checker.check(line)
      if case .event(let record) = line { records.append(record) }
    } catch {
      throw LineFault(line: number, reason: "\(error)")
    }
  }
  return records
}

/// A line of an exported journal that is none.
public struct LineFault: Error, CustomStringConvertible {
  /// Its number, from 1.
  public let line: Int
  /// The rule that it breaks.
  public let reason: String

  /// Both, in a sentence.
  public var description: String { "line \(line): \(reason)" }
}

/// A source whose value is another one after a replay.
public struct ReplayDifference: Error, CustomStringConvertible {
  /// The name of the source.
  public let source: String
  /// The value in the daemon, as JSON; `nil` if there is none.
  public let value: String?
  /// The value after the replay, as JSON; `nil` if there is none.
  public let replayed: String?

  /// The position of the first event after which the states differ; `nil` if the daemon has not kept the
  /// states, because they are long.
  public let seq: UInt64?
  /// The type of that event: `chores.added`.
  public let type: String?

  init(source: String, value: JSONText?, replayed: JSONText?, event: Record?) {
    (self.source, self.value, self.replayed) = (source, value?.text, replayed?.text)
    (seq, type) = (event?.seq, event?.type)
  }

  /// The difference, in a sentence.
  public var description: String {
    "\(source) is \(value ?? "gone"), and \(replayed ?? "gone") after a replay: 'apply' depends on "
      + "something else than the event and its context"
      + (seq.map { "; the states differ from event \($0) on (\(type ?? ""))" } ?? "")
  }
}

/// An event of the journal.
public struct TestEvent: Equatable, CustomStringConvertible {
  /// The position, from 1.
  public let seq: UInt64
  /// The stream: `chores`.
  public let stream: String
  /// The type: `chores.added`.
  public let type: String
  /// The data, as JSON.
  public let data: JSONValue

  init(_ record: Record) {
    (seq, stream, type, data) = (
      record.seq, record.stream, record.type, JSONText(trusted: record.data).value
    )
  }

  /// The event as one line.
  public var description: String { "\(seq) \(type) in \(stream): \(data.text)" }

  /// Compares what was recorded.
  public static func == (left: Self, right: Self) -> Bool {
    left.seq == right.seq && left.stream == right.stream && left.type == right.type
      && left.data.text == right.data.text
  }
}

/// The rights of a client.
public struct TestRole: Sendable {
  let engine: Role

  /// Everything.
  public static let owner = TestRole(engine: .owner)

  /// A role with patterns, as in the configuration.
  ///
  /// - Parameters:
  ///   - methods: The methods that it may call.
  ///   - read: The sources that it may read.
  ///   - write: The streams in which it may record.
  public static func role(
    _ name: String = "some", methods: [String] = ["**"], read: [String], write: [String] = []
  ) -> TestRole {
    func rules(_ patterns: [String]) -> Rules {
      Rules(allow: patterns.compactMap { Pattern($0).map { Rule($0) } })
    }
    return TestRole(
      engine: Role(name: name, methods: rules(methods), read: rules(read), write: rules(write)))
  }
}
