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

  /// Bytes of state that all services may hold.
  public var state = 256 << 20

  /// Bytes of state that services may hold for one user, except root and the daemon's own user.
  public var statePerUser = 128 << 20

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
