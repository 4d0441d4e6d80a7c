internal import BinderClient
public import JSON
internal import Wire

/// A position in the journal to resume after.
///
/// One event may change several sources of a pattern. `part` is how many changes of the event after
/// `seq` were given to the program, with `mode` `every`.
public struct Cursor: Hashable, Codable, Sendable {
  /// The identity of the journal.
  public var epoch: String

  /// The position.
  public var seq: UInt64

  /// The number of changes after ``seq`` that the program has.
  public var part: Int

  /// Creates a position.
  public init(epoch: String, seq: UInt64, part: Int = 0) {
    (self.epoch, self.seq, self.part) = (epoch, seq, part)
  }
}

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

  /// Whether the daemon resumes after a position that the client names.
  private let isPositional: Bool
  private let isEveryOfPattern: Bool
  private var link: Link?
  private var backoff = Backoff()
  private var ready: [SubscriptionUpdate] = []
  private var nextReady = 0
  private var acknowledged: UInt64 = 0

  /// The number of changes that the daemon sends again because they are of one event with others.
  private var repeated = 0
  private var isClosed = false
  private var failure: (any Error)?

  /// The position after which the subscription resumes: that of the last update.
  public private(set) var cursor: Cursor?

  init(_ target: Link.Target, _ source: String, _ options: JSONObject, _ cursor: Cursor?) {
    var params: JSONObject = ["source": .string(source), "sub": .string(Self.handle)]
    for member in options.members { params[member.name] = member.value }
    (self.target, self.source, self.params, self.cursor) = (target, source, params, cursor)
    let isEvery = options["mode"] == .string("every")
    isEveryOfPattern = isEvery && source.contains("*")
    isPositional = (source == "events" || isEvery) && options["durable"] == nil
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
    acknowledged = Swift.max(acknowledged, seq)
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
        try take(try await link.receive())
      } catch {
        if error is CancellationError { throw error }
        guard !isClosed else { return nil }
        await reconnect(after: error)
      }
    }
    nextReady += 1
    let update = ready[nextReady - 1]
    cursor = update.cursor
    return update
  }

  // MARK: Connecting

  func open(isFirst: Bool = true) async throws {
    var params = params
    if isPositional, let cursor {
      params["from"] = .object(["after": .number(JSONNumber(cursor.seq))])
      params["epoch"] = .string(cursor.epoch)
      repeated = cursor.part
    }
    let link: Link
    let answer: JSONObject
    do {
      link = try await Link.open(target)
      link.socket.write(try link.line(0, "subscribe", params))
      answer = try await link.receive()
    } catch {
      throw isFirst ? Recovery(from: error).error : error
    }
    if let error = answer["error"] {
      link.socket.close()
      throw ClientError(error.text)
    }
    guard !isClosed else { return link.socket.close() }
    self.link = link
    backoff.reset()
    begin(answer.object("result"), isFirst)
  }

  /// Takes the reply to `subscribe`.
  private func begin(_ reply: JSONObject, _ isFirst: Bool) {
    let last = cursor
    let now = reply.string("epoch").map { epoch in
      Cursor(epoch: epoch, seq: reply.position("after") ?? reply.position("seq") ?? 0)
    }
    // A durable reader resumes after its last acknowledgement, which may be before the cursor.
    if reply["durable"] == nil || last == nil || last?.epoch != now?.epoch { cursor = now }
    if repeated > 0, var now {
      now.part = repeated
      cursor = now
    }
    guard reply["after"] == nil else { return }
    // Nothing has changed at the same position, unless parts of the value were missing.
    if isFirst || now == nil || now != last || reply["more"] != nil { add(.snapshot, reply) }
  }

  private func reconnect(after error: any Error) async {
    link?.socket.close()
    link = nil
    var recovery = Recovery(from: error)
    while !isClosed {
      guard recovery.isPassing else {
        failure = recovery.error
        return
      }
      let milliseconds = backoff.next(requested: recovery.milliseconds)
      do {
        try await Task.sleep(for: .milliseconds(milliseconds))
        return try await open(isFirst: false)
      } catch {
        if error is CancellationError { return }
        recovery = Recovery(from: error)
      }
    }
  }

  // MARK: Updates

  private func take(_ frame: JSONObject) throws(ClientError) {
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
      for item in items where !isRepeated(kind, item) { add(kind, item) }
    default: break
    }
  }

  private func fail(_ error: ClientError) {
    failure = failure ?? error
    link?.socket.close()
  }

  /// Returns whether the program has this already.
  private func isRepeated(_ kind: SubscriptionUpdate.Kind, _ item: JSONObject) -> Bool {
    guard kind == .next, let seq = item.position("seq"), let cursor = last else { return false }
    if repeated > 0 {
      repeated -= 1
      if seq == cursor.seq + 1 { return true }
      repeated = 0
    }
    guard params["durable"] != nil, params["share"] == nil, seq <= cursor.seq else { return false }
    // The daemon has lost the acknowledgement with the connection.
    if seq <= acknowledged { acknowledge(upTo: seq) }
    return true
  }

  /// The position of the last update that was prepared.
  private var last: Cursor? { nextReady < ready.count ? ready.last?.cursor : cursor }

  private func add(_ kind: SubscriptionUpdate.Kind, _ item: JSONObject) {
    var cursor = last
    if let seq = item.position("seq"), let before = cursor,
      [.snapshot, .next, .caughtUp, .mark, .lagged].contains(kind)
    {
      if kind != .next || !isEveryOfPattern {
        cursor = Cursor(epoch: before.epoch, seq: seq)
      } else if before.part > 0, seq == before.seq + 1 {
        cursor = Cursor(epoch: before.epoch, seq: before.seq, part: before.part + 1)
      } else {
        cursor = Cursor(epoch: before.epoch, seq: seq - 1, part: 1)
      }
    }
    ready.append(
      SubscriptionUpdate(
        kind: kind, source: item.string("source") ?? source, cursor: cursor, members: item))
  }
}
