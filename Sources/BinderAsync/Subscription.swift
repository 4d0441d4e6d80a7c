public import BinderClient
public import JSON
internal import Wire

/// One step of a subscription.
///
/// Store ``cursor`` once the update is processed, to resume after it in a new process.
public struct SubscriptionUpdate: Equatable, Sendable {
  /// The kinds of updates.
  public enum Kind: String, Sendable {
    /// The present: a value, or `values` of a pattern. A source of the newest value has one again when
    /// the client has reconnected; it replaces all before.
    case snapshot
    /// A change or an event.
    case next
    /// All past events were read.
    case caughtUp = "caught_up"
    /// A position without something to show.
    case mark
    /// The reader has fallen behind.
    case behind
    /// Events were removed before they were read; `missed` names them.
    case lagged
    /// A durable reader must acknowledge before it gets more.
    case paused
  }

  /// The kind of the update.
  public let kind: Kind

  /// The source, or the pattern or `events`.
  public let source: String

  /// The position to resume after; `nil` for sources that are not journaled.
  public let cursor: Cursor?

  /// The other members as the daemon sends them; see the protocol, section 7 to 9.
  public let members: JSONObject

  /// The position of the update; `nil` if it has none.
  public var seq: UInt64? { members.position("seq") }
}

/// A subscription that survives the loss of its connection; ``AsyncBinderClient/subscribe(_:_:resumingAfter:)``
/// makes it.
///
/// It reads a line only when the program asks for the next update. So a slow program needs no memory:
/// the daemon keeps the newest value for it, or feeds events from the journal at its pace.
///
/// Iteration throws ``ClientError`` when the daemon ends the subscription, or refuses to resume it
/// because the journal was replaced (`epoch_mismatch`, `seq_future`) or no longer has the events after
/// the cursor (`seq_expired`). Section 15 of the protocol says what to do then. One task iterates; when it
/// is cancelled, iteration throws `CancellationError`, and another task can go on from there. The
/// subscription ends with ``close()``, or when the program lets go of it.
public actor Subscription: AsyncSequence {
  /// The element of the sequence.
  public typealias Element = SubscriptionUpdate

  private static let handle = "s"
  private static let notifications: Set = [
    "next", "caught_up", "mark", "behind", "lagged", "paused",
  ]

  private let target: Link.Target
  private let params: JSONObject
  private let source: String

  private var progress: SubscriptionState
  private var link: Link?
  private var ready: [SubscriptionUpdate] = []
  private var nextReady = 0
  private var isClosed = false
  private var failure: (any Error)?

  /// The position after which the subscription resumes: that of the last update.
  public private(set) var cursor: Cursor?

  init(_ target: Link.Target, _ source: String, _ options: JSONObject, _ cursor: Cursor?) {
    var params: JSONObject = ["source": .string(source), "sub": .string(Self.handle)]
    for member in options.members { params[member.name] = member.value }
    (self.target, self.source, self.params, self.cursor) = (target, source, params, cursor)
    progress = SubscriptionState(
      source: source, isEvery: options["mode"] == .string("every"),
      isDurable: options["durable"] != nil, isShared: options["share"] == .bool(true),
      cursor: cursor)
  }

  deinit {
    link?.socket.close()
  }

  /// Ends the subscription, and the iteration over it.
  public func close() {
    isClosed = true
    link?.socket.close()
  }

  /// Acknowledges an event of a durable reader, and those before it.
  ///
  /// It does not wait for the answer; a refusal ends the subscription. If the connection is lost, the
  /// acknowledgement is repeated.
  public func acknowledge(upTo seq: UInt64) {
    progress.acknowledge(upTo: seq)
    let params: JSONObject = [
      "sub": .string(Self.handle), "seq": .number(JSONNumber(seq)),
    ]
    if let link, let line = try? link.line(1, "ack", params) { link.socket.write(line) }
  }

  // MARK: Iterating

  /// The iterator of a subscription.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let subscription: Subscription

    /// Returns the next update; `nil` after ``Subscription/close()``.
    public mutating func next() async throws -> SubscriptionUpdate? {
      try await subscription.next()
    }
  }

  /// Returns an iterator.
  public nonisolated func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: self)
  }

  /// Waits for the next update; `nil` after ``close()``.
  public func next() async throws -> SubscriptionUpdate? {
    while nextReady == ready.count {
      ready.removeAll(keepingCapacity: true)
      nextReady = 0
      if isClosed { return nil }
      if let failure { throw failure }
      try Task.checkCancellation()
      do {
        guard let link else { throw ClientError.lost(reason: nil) }
        receive(try await link.receive())
      } catch {
        if error is CancellationError { throw error }
        guard !isClosed else { return nil }
        try await reconnect(after: error)
      }
    }
    nextReady += 1
    let update = ready[nextReady - 1]
    cursor = update.cursor
    return update
  }

  // MARK: Connecting

  /// Makes the first connection.
  func open() async throws {
    do {
      try await connect()
    } catch {
      throw ConnectionEnd.reason(of: error)
    }
  }

  private func connect() async throws {
    var params = params
    if let cursor = progress.resume() {
      params["from"] = .object(["after": .number(JSONNumber(cursor.seq))])
      params["epoch"] = .string(cursor.epoch)
    }
    let link = try await Link.open(target)
    link.socket.write(try link.line(0, "subscribe", params))
    let answer = try await link.receive()
    if let error = answer["error"] {
      link.socket.close()
      throw ClientError(error.text)
    }
    guard !isClosed else { return link.socket.close() }
    self.link = link
    begin(answer.object("result"))
  }

  /// Processes the reply to `subscribe`.
  private func begin(_ reply: JSONObject) {
    let isNew = progress.begin(
      epoch: reply.string("epoch"), seq: reply.position("seq"), after: reply.position("after"),
      isWhole: reply["more"] == nil && reply["values"] == nil)
    if isNew { add(.snapshot, reply) } else if ready.isEmpty { cursor = progress.cursor }
  }

  private func reconnect(after error: any Error) async throws {
    link?.socket.close()
    link = nil
    // The answer to `subscribe` is a success, so each loss begins with the shortest pause.
    var reconnection = Reconnection()
    do {
      try await reconnection.connect(after: error) {
        if !isClosed { try await connect() }
      }
    } catch {
      if error is CancellationError { throw error }
      failure = error
    }
  }

  // MARK: Updates

  private func receive(_ frame: JSONObject) {
    // The answer to an acknowledgement.
    if let error = frame["error"] { return fail(ClientError(error.text)) }
    let params = frame.object("params")
    guard let method = frame.string("method"), params.string("sub") == Self.handle else { return }
    switch method {
    case "fail": fail(ClientError((params["error"] ?? .null).text))
    case "closed": fail(.closed(reason: params.string("reason") ?? ""))
    case _ where Self.notifications.contains(method):
      guard let kind = SubscriptionUpdate.Kind(rawValue: method) else { return }
      var items = [params]
      if case .array(let all)? = params["items"] {
        items = all.compactMap { if case .object(let item) = $0 { item } else { nil } }
      }
      for item in items { receive(kind, item) }
    default: break
    }
  }

  private func receive(_ kind: SubscriptionUpdate.Kind, _ item: JSONObject) {
    let seq = item.position("seq")
    switch kind {
    case .next:
      if case .again(let mustAcknowledge) = progress.receive(seq: seq) {
        if mustAcknowledge, let seq { acknowledge(upTo: seq) }
        return
      }
    case .snapshot, .caughtUp, .mark, .lagged: progress.advance(to: seq)
    case .behind, .paused: break
    }
    add(kind, item)
  }

  private func fail(_ error: ClientError) {
    failure = failure ?? error
    link?.socket.close()
  }

  private func add(_ kind: SubscriptionUpdate.Kind, _ item: JSONObject) {
    ready.append(
      SubscriptionUpdate(
        kind: kind, source: item.string("source") ?? source, cursor: progress.cursor, members: item)
    )
  }
}
