/// How much a client may ask for; `hello` and `stats` show them, and each breach names its own.
///
/// ``LimitName`` is the table of their names, in which each can be read and set.
public struct Limits: Equatable, Sendable {
  /// Bytes of a line from a client.
  public var lineIn = 1 << 20

  /// Bytes of a line to a client that has not asked for more in `hello`.
  public var lineOut = 64 << 10

  /// Bytes of a line to a client that has.
  public var lineOutMax = 16 << 20

  /// Bytes of an over-long line that are dropped in hope of its end.
  public var flood = 16 << 20

  /// Requests of a batch.
  public var batch = 256

  /// Calls of an `atomic`.
  public var atomic = 1024

  /// Calls of one connection that are answered out of order and not answered yet.
  public var inFlight = 64

  /// The same of all connections together.
  public var allInFlight = 16_384

  /// Answers of one connection that wait for the disk before it is read on.
  public var held = 1024

  /// Subscriptions of one connection.
  public var subscriptions = 256

  /// What a filter may cost: one for each pattern, condition and value of `in`.
  public var filterCost = 64

  /// Views of one connection.
  public var views = 64

  /// Bindings of one connection.
  public var bindings = 64

  /// Bytes of output that wait for a client before it is read no further.
  public var outputSoft = 1 << 20

  /// Bytes of output that wait for a client before it is hung up on.
  public var outputHard = 8 << 20

  /// Bytes that are held for all clients of one user together.
  public var bufferedPerUser = 64 << 20

  /// Bytes that the services may keep.
  public var state = 512 << 20

  /// Bytes that they may keep of one user other than the daemon's own and root.
  public var statePerUser = 256 << 20

  /// Clients at a time.
  public var connections = 10_000

  /// Clients of one user other than the daemon's own and root.
  public var connectionsPerUser = 5_000

  /// Milliseconds from the first byte of a line to its last.
  public var partialLineMilliseconds = 30_000

  /// Milliseconds without a byte taken by a client that has output waiting.
  public var stallMilliseconds = 60_000

  /// Milliseconds that a method which is not async may run.
  public var callMilliseconds = 5_000

  /// Bad lines in a row.
  public var badLines = 16

  /// Bytes of a `cmd`.
  public var commandBytes = 64

  /// Bytes of an `id` that is a string.
  public var idBytes = 128

  /// The defaults.
  public init() {}

  /// The value of a limit.
  ///
  /// Set only to values of its ``LimitName/Row/range``.
  public subscript(name: LimitName) -> Int {
    get { name.row.path.map { self[keyPath: $0] } ?? name.row.range.upperBound }
    set {
      precondition(name.row.range.contains(newValue), "\(name.rawValue) is out of its range")
      if let path = name.row.path { self[keyPath: path] = newValue }
    }
  }
}
