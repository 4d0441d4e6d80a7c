internal import JSON

/// The limits of the daemon.
///
/// `hello` and `stats` show them, and errors name the exceeded one.
///
/// ``LimitName`` lists their names and gives access to each by name.
public struct Limits: Equatable, Sendable {
  /// Bytes of a line from a client.
  public var lineIn = 1 << 20

  /// Bytes of a line to a client that has not requested more in `hello`.
  public var lineOut = 64 << 10

  /// The least that ``lineOut`` can be.
  public static let leastLineOut = 1024

  /// Bytes of a line to a client that has requested more in `hello`.
  public var lineOutMax = 16 << 20

  /// Bytes of an over-long line that are skipped before the connection is closed.
  public var flood = 16 << 20

  /// Requests of a batch.
  public var batch = 256

  /// Calls of an `atomic`.
  public var atomic = 1024

  /// Unanswered asynchronous calls of one connection.
  public var inFlight = 64

  /// Unanswered asynchronous calls of all connections together.
  public var allInFlight = 16_384

  /// Answers of one connection that wait for the disk before the daemon stops reading from it.
  public var held = 1024

  /// Subscriptions of one connection.
  public var subscriptions = 256

  /// Cost of a filter: one for each pattern, condition and value of `in`.
  public var filterCost = 64

  /// Views of one connection.
  public var views = 64

  /// Bindings of one connection.
  public var bindings = 64

  /// Pending output bytes of a client at which the daemon stops reading from it (backpressure).
  public var outputSoft = 1 << 20

  /// Pending output bytes of a client at which the daemon closes the connection.
  public var outputHard = 8 << 20

  /// Bytes buffered for all clients of one user together.
  public var bufferedPerUser = 64 << 20

  /// Estimated bytes of the subscriptions, views, bindings, providers and waiting calls of all
  /// clients of one user, except root and the daemon's own user.
  public var memoryPerUser = 128 << 20

  /// Bytes of state that all services may hold.
  public var state = 256 << 20

  /// Bytes of state that services may hold for one user, except root and the daemon's own user.
  public var statePerUser = 128 << 20

  /// Bytes of events that one user may write in a second on average, except root and the daemon's
  /// own user.
  public var journalRatePerUser = 8 << 20

  /// Bytes of events that such a user may write at once.
  public var journalBurstPerUser = 256 << 20

  /// Free bytes on the disk of the journal that only root and the daemon's own user may use.
  public var diskReserve = 256 << 20

  /// Simultaneous clients.
  public var connections = 10_000

  /// Simultaneous clients of one user, except root and the daemon's own user.
  public var connectionsPerUser = 5_000

  /// Milliseconds from the first byte of a line to its last.
  public var partialLineMilliseconds = 30_000

  /// Milliseconds that a client with pending output may take no bytes.
  public var stallMilliseconds = 60_000

  /// Milliseconds that a synchronous method may run.
  public var callMilliseconds = 5_000

  /// Milliseconds that a lease of a connection waits for its client after a restart.
  public var leaseGraceMilliseconds = 5_000

  /// Leases of one user, except root and the daemon's own user.
  public var leasesPerUser = 10_000

  /// Places as the holder of a lock, or among those who wait for it, of one user, except root and the
  /// daemon's own user.
  public var locksPerUser = 10_000

  /// Providers of services that are connections of one user, except root and the daemon's own user.
  public var providersPerUser = 1_000

  /// Calls of one user that wait in the queues of all services, except root and the daemon's own
  /// user.
  public var queuedPerUser = 5_000

  /// Consecutive bad lines before the daemon closes the connection.
  public var badLines = 16

  /// Bytes of a `cmd`.
  public var commandBytes = 64

  /// Bytes of an `id` that is a string.
  public var idBytes = 128

  /// Creates the default limits.
  public init() {}

  /// The value of a limit.
  ///
  /// Setting a value outside its ``LimitName/Row/range`` traps. Fixed limits ignore the new value.
  public subscript(name: LimitName) -> Int {
    get { name.row.path.map { self[keyPath: $0] } ?? name.row.range.upperBound }
    set {
      precondition(name.row.range.contains(newValue), "\(name.rawValue) is out of its range")
      if let path = name.row.path { self[keyPath: path] = newValue }
    }
  }
}

/// The names of the limits, in one table for `hello`, `stats`, errors and the configuration.
public enum LimitName: String, CaseIterable, Sendable {
  case lineIn = "line_in"
  case lineOut = "line_out"
  case lineOutMax = "line_out_max"
  case flood
  case depth
  case members
  case batch
  case atomic
  case subscriptions = "subs"
  case views
  case bindings
  case filterCost = "filter"
  case inFlight = "inflight"
  case allInFlight = "inflight_all"
  case held
  case outputSoft = "output_soft"
  case outputHard = "output_hard"
  case bufferedPerUser = "buffered_user"
  case memoryPerUser = "memory_user"
  case state
  case statePerUser = "state_user"
  case journalRatePerUser = "journal_rate_user"
  case journalBurstPerUser = "journal_burst_user"
  case diskReserve = "disk_reserve"
  case connections
  case connectionsPerUser = "connections_user"
  case partialLine = "partial_line_ms"
  case stall = "stall_ms"
  case call = "call_ms"
  case leaseGrace = "lease_grace_ms"
  case leasesPerUser = "leases_user"
  case locksPerUser = "locks_user"
  case providersPerUser = "providers_user"
  case queuedPerUser = "queued_user"
  case badLines = "bad_lines"
  case commandBytes = "cmd_bytes"
  case idBytes = "id_bytes"

  /// One row of the table.
  public struct Row {
    /// The property of ``Limits``; `nil` if the limit is fixed by the format.
    public let path: WritableKeyPath<Limits, Int>?

    /// The valid values.
    public let range: ClosedRange<Int>

    /// A short description of the limited quantity.
    public let meaning: String
  }

  /// The row of this limit.
  public var row: Row {
    switch self {
    case .lineIn: Row(\.lineIn, 1024...Self.most, "bytes of a line from a client")
    case .lineOut: Row(\.lineOut, Limits.leastLineOut...Self.most, "bytes of a line to a client")
    case .lineOutMax:
      Row(\.lineOutMax, 1024...Self.most, "bytes of a line that a client may ask for in hello")
    case .flood: Row(\.flood, 0...Self.most, "bytes of a line over line_in that are dropped")
    case .depth: Row(nil, JSONLimits.depth...JSONLimits.depth, "nested arrays and objects")
    case .members: Row(nil, JSONLimits.members...JSONLimits.members, "members of an object")
    case .batch: Row(\.batch, 1...Self.many, "requests of a batch")
    case .atomic: Row(\.atomic, 1...Self.many, "calls of an atomic")
    case .subscriptions: Row(\.subscriptions, 0...Self.many, "subscriptions of a connection")
    case .views: Row(\.views, 0...Self.many, "views of a connection")
    case .bindings: Row(\.bindings, 0...Self.many, "bindings of a connection")
    case .filterCost: Row(\.filterCost, 1...Self.many, "patterns, conditions, values of a filter")
    case .inFlight: Row(\.inFlight, 1...Self.many, "async calls of a connection in flight")
    case .allInFlight: Row(\.allInFlight, 1...Self.most, "async calls of all clients in flight")
    case .held: Row(\.held, 1...Self.many, "answers of a connection waiting for the disk")
    case .outputSoft:
      Row(\.outputSoft, 1024...Self.most, "bytes queued for a client before its input pauses")
    case .outputHard:
      Row(\.outputHard, 1024...Self.most, "bytes queued for a client before it is disconnected")
    case .bufferedPerUser:
      Row(\.bufferedPerUser, 1 << 16...1 << 40, "bytes that are held for all clients of one user")
    case .memoryPerUser:
      Row(
        \.memoryPerUser, 1 << 16...1 << 40,
        "bytes of subscriptions, views, bindings and waiting calls of one user")
    case .state: Row(\.state, 1 << 20...1 << 40, "bytes of state")
    case .statePerUser: Row(\.statePerUser, 1 << 20...1 << 40, "bytes of state of one user")
    case .journalRatePerUser:
      Row(\.journalRatePerUser, 1024...1 << 40, "bytes of events of one user in a second")
    case .journalBurstPerUser:
      Row(\.journalBurstPerUser, 1 << 20...1 << 40, "bytes of events of one user at once")
    case .diskReserve:
      Row(\.diskReserve, 0...1 << 40, "bytes of the disk that only administrators may use")
    case .connections: Row(\.connections, 1...1_000_000, "clients at a time")
    case .connectionsPerUser: Row(\.connectionsPerUser, 1...1_000_000, "clients of one user")
    case .partialLine: Row(\.partialLineMilliseconds, 10...Self.day, "a line from start to end")
    case .stall: Row(\.stallMilliseconds, 10...Self.day, "a client that takes no output")
    case .call: Row(\.callMilliseconds, 1...Self.day, "a method that is not async")
    case .leaseGrace:
      Row(\.leaseGraceMilliseconds, 0...Self.day, "a lease waits for its client after a restart")
    case .leasesPerUser: Row(\.leasesPerUser, 0...1_000_000, "leases of one user")
    case .locksPerUser: Row(\.locksPerUser, 0...1_000_000, "places at locks of one user")
    case .providersPerUser:
      Row(\.providersPerUser, 0...1_000_000, "providers of services of one user")
    case .queuedPerUser: Row(\.queuedPerUser, 0...1_000_000, "queued calls of one user")
    case .badLines: Row(\.badLines, 1...Self.many, "bad lines in a row")
    case .commandBytes: Row(\.commandBytes, 1...1024, "bytes of a cmd")
    case .idBytes: Row(\.idBytes, 1...Self.many, "bytes of an id that is a string")
    }
  }

  private static let many = 65_536
  private static let most = 1 << 30
  private static let day = 86_400_000
}

extension LimitName.Row {
  fileprivate init(
    _ path: WritableKeyPath<Limits, Int>?, _ range: ClosedRange<Int>,
    _ meaning: String
  ) {
    self.init(path: path, range: range, meaning: meaning)
  }
}
