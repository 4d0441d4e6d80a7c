internal import Wire

/// Streams that survive a restart of the daemon.
///
/// Journaled sources resume without gaps or duplicates; other sources restart from the current
/// value. Create a follower with ``BinderClient/follow(_:reconnects:until:)``.
public final class Follower {
  private let client: BinderClient
  private let polled: PolledFollower
  private var ready: [Update] = []
  private var nextReady = 0

  /// Whether all subscriptions were made once.
  private var wasLive = false

  init(
    _ topics: [Topic], of client: BinderClient, reconnects: Bool, until deadline: Deadline
  ) throws(ClientError) {
    self.client = client
    polled = try PolledFollower(topics, of: client, reconnects: reconnects, notesSilence: true)
    // Beyond that time nobody answers, or only in part.
    let deadline = client.waitsForDaemon ? deadline : client.limits.end(deadline)
    while !wasLive { try receive(until: deadline) }
  }

  /// Waits for the next update.
  ///
  /// - Throws: ``ClientError/timedOut``, after which you can call this again;
  ///   ``ClientError/lost(reason:)`` if the follower does not reconnect;
  ///   ``ClientError/refused(_:)`` if the journal was replaced or no longer holds the requested
  ///   events.
  public func next(until deadline: Deadline = .never) throws(ClientError) -> Update {
    while nextReady == ready.count {
      ready.removeAll(keepingCapacity: true)
      nextReady = 0
      try receive(until: deadline)
    }
    nextReady += 1
    return ready[nextReady - 1]
  }

  /// Whether ``next(until:)`` can return without waiting for the daemon.
  public var hasMore: Bool { nextReady < ready.count }

  /// Returns whether an event of a durable topic was sent to an earlier program, which may have
  /// processed it.
  ///
  /// The daemon knows that until it stops.
  public func wasDelivered(_ topic: Int, _ seq: UInt64) -> Bool { polled.wasDelivered(topic, seq) }

  /// Acknowledges all events of a durable topic up to a position, and waits until the daemon has
  /// stored it.
  ///
  /// If the connection is lost, the follower repeats the acknowledgement after reconnecting.
  ///
  /// - Parameters:
  ///   - topic: The index of the topic.
  ///   - seq: The position of a received event.
  public func acknowledge(
    _ topic: Int, upTo seq: UInt64, until deadline: Deadline = .never
  ) throws(ClientError) {
    polled.acknowledge(topic, upTo: seq)
    let deadline = client.limits.end(deadline)
    while polled.isAcknowledging { try receive(until: deadline) }
  }

  /// Waits for messages of the daemon, or for the next attempt to connect, and processes them.
  private func receive(until deadline: Deadline) throws(ClientError) {
    let deadline = Deadline.earlier(deadline, client.limits.deadline)
    let end = Deadline.earlier(deadline, polled.deadline)
    switch waitFor(polled.descriptor, until: end, output: client.output) {
    case .ready: break
    case .timedOut: if deadline.isOver { throw .timedOut }
    case .readerGone: throw .readerGone
    case .failed: throw .lost(reason: nil)
    }
    for news in try polled.receive() {
      switch news {
      case .update(let update): ready.append(update)
      case .lost(let reason): client.onNote?(.lost(reason: reason))
      case .live(let seq):
        if wasLive { client.onNote?(.resumed(after: seq)) }
        wasLive = true
      }
    }
    // A stream of messages without anything for the caller would never time out while waiting.
    if !hasMore, deadline.isOver { throw .timedOut }
  }
}
