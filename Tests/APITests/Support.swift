import API
import Apps
import struct Binder.Caller
import BinderTesting
import Configuration
import Connections
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
import Wire

/// A daemon without sockets and disk: services on a memory store, with simulated clients.
final class Bench {
  let store: MemoryStore
  let host: ServiceHost
  let table: ConnectionTable
  let catalog: Catalog
  let rights: RightsTable
  let clients: SessionTable
  let liveBindings: LiveBindings
  let cells: CellsService
  /// Ends with the catalogue.
  private(set) weak var readers: ReaderHolders?
  let time: ManualTime
  private let bag = DisposeBag()

  /// The parts that services and binders are made with.
  struct Parts {
    let host: ServiceHost
    let clients: SessionTable
    let live: LiveBindings
  }

  /// Ends the background activity of the services.
  var endServices: () -> Void = {}

  /// The live nodes without clients.
  private var quiet: QuietNodes?

  /// - Parameters:
  ///   - bind: Creates another service and binds clients with all rights to it.
  ///   - sessions: Creates the function that makes sessions; without it nobody can log in.
  ///   - services: Creates more services, and returns the function that binds clients to them.
  ///   - lineOrder: Reorders the lines of all binders.
  init(
    _ store: MemoryStore? = nil, time: ManualTime = ManualTime(),
    bind: (Catalog, Parts) -> Void = { _, _ in },
    sessions: ((ServiceHost) -> (Caller) -> ClientSession)? = nil,
    services: (Parts) -> (Catalog) -> Void = { _ in { _ in } },
    lineOrder: @escaping ([Assembly.Line]) -> [Assembly.Line] = { $0 }
  ) throws {
    var clock: Int64 = 1_767_323_045_000_000
    let store =
      store
      ?? MemoryStore(epoch: "7f3a9c52") {
        clock += 1
        return clock
      }
    self.store = store
    host = ServiceHost(store: store)
    self.time = time
    table = ConnectionTable(
      limits: Limits(), now: { time.milliseconds }, clock: { time.nanoseconds }, scheduler: time)
    host.freeEvents = { [context = table.context] in context.free($0, for: $1) }
    catalog = Catalog(over: host)
    rights = RightsTable(for: catalog)
    liveBindings = LiveBindings(on: time, in: table.context)
    clients = SessionTable(sessions?(host) ?? { ClientSession($0) }) { $0.end() }
    let parts = Parts(host: host, clients: clients, live: liveBindings)
    table.context.views.lineOrder = lineOrder
    catalog.lineOrder = lineOrder
    cells = CellsService(in: host)
    let server = ServerInfo(
      name: "binderd",
      version: "0.0.0", now: { 1_767_323_045_678_901 }, uptime: { 5 },
      userName: { $0 == 500 ? "binder" : nil })
    let readers = ReaderHolders(ReadersService(in: host))
    self.readers = readers
    let system = SystemService(FixedProbe(), on: time)
    let bindAll = services(parts)
    catalog.fill { catalog in
      bindProtocol(catalog, server, stats: { DaemonStats() })
      bindSources(catalog, readers)
      bindViews(catalog)
      bindHistory(catalog)
      bindCells(catalog, to: cells)
      bindReaders(catalog, to: readers)
      bindSystem(catalog, to: system)
      bindMetrics(catalog) { [] }
      bindKick(catalog, to: table) { _, _, _ in }
      bindActAs(catalog, to: table) { _, _ in .failure(WireError(.internalError, "no gateway")) }
      bindAll(catalog)
      bind(catalog, parts)
    }
    try host.start()
    bindTable(table, to: catalog, bag: bag)
    quiet = QuietNodes()
  }

  deinit {
    table.closeAll(.shutdown)
    table.flush()
    rights.keep(only: [])
    catalog.end()
    liveBindings.end()
    // Records after a disconnect are written within a second.
    time.advance(1_000)
    store.commit()
    time.advance(1_000)
    endServices()
    store.commit()
    quiet?.end()
  }

  func connect(uid: UInt32 = 1000, as role: Role = .owner) -> TestClient {
    TestClient(self, uid: uid, as: role)
  }
}

extension Role {
  /// Creates a role from patterns.
  static func made(
    _ name: String = "some", methods: [String] = ["**"], read: [String], write: [String]
  ) -> Role {
    func rules(_ patterns: [String]) -> Rules {
      Rules(allow: patterns.compactMap { Pattern($0).map { Rule($0) } })
    }
    return Role(name: name, methods: rules(methods), read: rules(read), write: rules(write))
  }
}

/// A client socket without a limit.
private final class TestTransport: Transport {
  var bytes: [UInt8] = []
  private(set) var isClosed = false
  private(set) var sends = 0

  func send(_ bytes: Span<UInt8>) -> Int? {
    sends += 1
    for i in bytes.indices { self.bytes.append(bytes[i]) }
    return bytes.count
  }

  func setReading(_ isReading: Bool) {}
  func close() { isClosed = true }
}

/// A client of a ``Bench``.
final class TestClient {
  let connection: Connection
  private let bench: Bench
  private let transport = TestTransport()
  private var recorder = OrderRecorder()

  var isClosed: Bool { transport.isClosed }

  /// The number of writes to the socket.
  var sends: Int { transport.sends }

  init(_ bench: Bench, uid: UInt32, as role: Role) {
    self.bench = bench
    connection = bench.table.connect(Peer(uid: uid, pid: 42, groups: [100], program: "sh"))
    bindConnection(connection, to: bench.rights[role])
    connection.start(transport)
  }

  /// Sends lines; the answers wait for the journal.
  func send(_ lines: String...) {
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    recorder.sent(bytes)
    connection.receive(bytes.span)
  }

  /// Commits everything, answers pending reads, and returns the received lines.
  func settle() -> [String] {
    for _ in 0..<8 {
      bench.store.commit()
      bench.store.read()
      bench.table.flush()
    }
    return received()
  }

  /// Returns the lines received so far, without a commit.
  func received() -> [String] {
    bench.table.flush()
    let text = String(decoding: transport.bytes, as: UTF8.self)
    let lines = text.split(separator: "\n").map(String.init)
    transport.bytes = []
    for line in lines {
      if let fault = recorder.received(line) { Issue.record("\(fault)") }
    }
    return lines
  }

  /// Sends a request and returns its only answer.
  func call(_ line: String) -> String {
    send(line)
    return settle().joined(separator: "\n")
  }

  /// Sends a request and returns the error of its answer.
  func error(_ line: String) -> WireError? {
    guard case .object(let object)? = try? JSONValue(parsing: call(line)),
      let error = object["error"]
    else { return nil }
    return WireError(error)
  }

  /// Sends a request and returns the result of its answer.
  func result(_ line: String) -> JSONObject? {
    guard case .object(let object)? = try? JSONValue(parsing: call(line)),
      case .object(let result)? = object["result"]
    else { return nil }
    return result
  }
}

struct FixedProbe: MachineProbe {
  var load: Load? { Load(one: 0.5, five: 0.25, fifteen: 0) }
  var memory: Memory? { nil }
  var processorTimes: ProcessorTimes? { nil }
  var uptime: Double? { 7 }
  var disks: [Disk] { [] }
}
