internal import Glibc
package import JSON

/// A connection that is made again when it is lost, for a caller that polls its descriptor.
///
/// ``onConnect`` sends the first requests of each connection. The first connection must succeed: it is
/// made again only if the daemon has answered its `hello`.
///
/// ```swift
/// let link = PolledConnection(client)
/// link.onConnect = { [unowned link] in link.send("subscribe", ["source": .string("cells/a")]) }
/// link.onNotification = { method, params in print(method, params) }
/// try link.start()
/// while true {
///   // Wait until link.descriptor is readable or link.deadline is over.
///   if let loss = try link.receive() { print("lost:", loss.error) }
/// }
/// ```
package final class PolledConnection {
  private let client: BinderClient
  private let reconnects: Bool
  private var connection: BinderConnection?
  private var reconnection: Reconnection
  private var nextAttempt = Deadline.never

  /// Whether a daemon has answered `hello`, so that a lost connection is made again.
  private var wasConnected = false

  /// The ID of the last request.
  private var lastID = 0

  /// The time at which a silent daemon is reported, and that at which its connection is given up.
  private var (silence, patience) = (Deadline.never, Deadline.never)

  /// Whether ``BinderClient/onNote`` is called for a daemon that is silent.
  package var notesSilence = false

  /// Called on each new connection.
  package var onConnect: () -> Void = {}

  /// Called with each answer; the IDs are different on all connections.
  package var onAnswer: (_ id: Int, _ answer: Result<JSONText, ClientError>) -> Void = { _, _ in }

  /// Called with each notification except `closing`.
  package var onNotification: ((_ method: String, _ params: JSONText) -> Void)?

  /// Called with each notification except `closing`, decoded, and the size of its line in bytes.
  var onMessage: ((_ method: String, _ params: Incoming.Params, _ bytes: Int) -> Void)?

  /// - Parameters:
  ///   - reconnects: Whether to reconnect after a loss.
  ///   - longest: The longest pause before an attempt to connect, in milliseconds.
  package init(
    _ client: BinderClient, reconnects: Bool = true, longestPause longest: UInt64 = 5_000
  ) {
    (self.client, self.reconnects) = (client, reconnects)
    reconnection = Reconnection(longestPause: longest)
  }

  /// Whether there is a connection, on which the daemon may not have answered yet.
  package var isConnected: Bool { connection != nil }

  /// The epoch of the journal of the daemon; empty until it has answered.
  package var epoch: String { connection?.greeting.epoch ?? "" }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  package var descriptor: CInt? { connection?.descriptor }

  /// The time at which ``receive()`` must be called.
  package var deadline: Deadline {
    .earlier(
      client.limits.deadline,
      connection == nil ? nextAttempt : .earlier(silence, patience))
  }

  /// The same in milliseconds from now, for `poll`; -1 for never.
  package var pollTime: CInt { deadline.pollTime }

  // MARK: Connecting

  /// Connects without waiting for the daemon's answer.
  package func start() throws(ClientError) {
    do throws(ClientError) {
      use(try client.connectWithoutWaiting())
    } catch {
      guard client.waits(after: error) else { throw error }
      client.onNote?(.absent(error))
      try pause(after: ConnectionEnd(error))
    }
  }

  private func use(_ new: BinderConnection) {
    connection = new
    // Each connection counts from 1, which is its `hello`.
    let offset = lastID - new.countOfRequests
    new.onAnswer = { [unowned self] id, answer in
      if case .success = answer { reconnection.succeed() }
      onAnswer(offset + id, answer)
    }
    new.onNotification = onNotification
    new.onMessage = onMessage
    silence = .never
    if notesSilence, let time = client.limits.noteMilliseconds {
      silence = Deadline(inMilliseconds: time)
    }
    patience = client.limits.end(.never)
    onConnect()
  }

  /// Sends a request; does nothing while there is no daemon.
  ///
  /// - Returns: Its ID, also if nothing was sent. A lost connection is noticed by reading.
  @discardableResult
  package func send(_ method: String, _ params: JSONObject) -> Int {
    guard let connection else { return 0 }
    lastID += 1
    _ = try? connection.send(method, params)
    return lastID
  }

  // MARK: Receiving

  /// Processes what has arrived, or connects again when it is time to; never waits.
  ///
  /// - Returns: The end of the connection if it was lost now, and will be made again.
  /// - Throws: ``ClientError`` if it is not.
  package func receive() throws(ClientError) -> ConnectionEnd? {
    if client.limits.deadline.isOver { throw .timedOut }
    guard let connection else {
      if nextAttempt.isOver { try connectAgain() }
      return nil
    }
    if connection.hasReceived {
      (silence, patience) = (.never, .never)
    } else if silence.isOver {
      silence = .never
      client.onNote?(.silent(path: connection.path))
    }
    do throws(ClientError) {
      if connection.isReadable { try connection.receiveArrived() }
    } catch {
      return try lose(error)
    }
    guard patience.isOver, !connection.hasReceived else { return nil }
    guard reconnects, wasConnected else { throw .timedOut }
    return try lose(.lost(reason: nil))
  }

  /// Gives up the connection and prepares the next attempt.
  ///
  /// - Throws: The error if another attempt cannot succeed.
  @discardableResult
  package func lose(_ error: ClientError) throws(ClientError) -> ConnectionEnd? {
    guard let connection else { return nil }
    let end = ConnectionEnd(error, reconnectMilliseconds: connection.reconnectMilliseconds)
    if connection.isGreeted { wasConnected = true }
    guard reconnects, wasConnected || client.waitsForDaemon else { throw error }
    self.connection = nil
    try pause(after: end)
    return end
  }

  /// Ends the connection, and makes no other one.
  package func close() {
    connection = nil
    nextAttempt = .never
  }

  private func connectAgain() throws(ClientError) {
    do throws(ClientError) {
      use(try client.connectWithoutWaiting())
    } catch {
      try pause(after: ConnectionEnd(error))
    }
  }

  private func pause(after end: ConnectionEnd) throws(ClientError) {
    nextAttempt = .never
    guard let milliseconds = reconnection.pause(after: end) else { throw end.error }
    nextAttempt = Deadline(inMilliseconds: milliseconds)
  }
}

extension BinderConnection {
  /// Whether there is something to read, or the connection has ended.
  fileprivate var isReadable: Bool {
    var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&end, 1, 0) > 0
  }
}
