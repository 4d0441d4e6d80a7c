/// The link to a client: its transport, and which side has closed it.
struct ClientLink {
  private(set) var transport: (any Transport)?

  /// Whether the client has closed its sending side.
  var isAtEnd = false

  /// The last request to the transport to read.
  private var isReading = false

  /// The reason for which the daemon closes the connection; `nil` if the client does.
  var closing: Closing?

  /// Whether the socket stays open for the next daemon when the connection ends.
  var isLeft = false

  /// The place of the output among those that are sent together; `nil` if there is none.
  var gatheredPlace: Int? {
    get { place < 0 ? nil : Int(place) }
    set { place = newValue.map(Int8.init) ?? -1 }
  }

  /// A byte, because each idle connection has it.
  private var place: Int8 = -1

  /// Whether the client has closed its sending side, and the daemon did not close the connection.
  var hasEndedItself: Bool { isAtEnd && closing == nil }

  mutating func start(_ transport: any Transport) { self.transport = transport }

  /// Sets whether the transport must read.
  ///
  /// - Returns: Whether that has changed.
  mutating func setReading(_ isWanted: Bool) -> Bool {
    guard isWanted != isReading else { return false }
    isReading = isWanted
    return true
  }

  /// Removes and returns the transport; `nil` if there is none.
  mutating func removeTransport() -> (any Transport)? {
    defer { transport = nil }
    return transport
  }
}
