internal import JSON
internal import Signals
package import Wire

/// A subscription of one of several workers that share a durable reader.
///
/// The reader gives it entries, never more than ``room`` allows.
package final class WorkSubscription: Subscription {
  /// The most entries that are given and not finished.
  private let max: Int

  /// The given entries that are not sent yet, each with the number of its delivery.
  private var waiting: [(entry: LogEntry, delivery: Int)] = []
  private var waitingBytes = 0

  /// The positions of given entries that are not finished, in the order of delivery.
  package private(set) var open: [UInt64] = []

  /// The number of the delivery of each of them.
  private var deliveries: [UInt64: Int] = [:]

  /// The position of an entry that is longer than the client's lines, which has ended it.
  package private(set) var tooLong: UInt64?

  private var missed: [ClosedRange<UInt64>] = []
  private var closing: String?

  /// Called when the subscription has ended.
  package var onEnd: (() -> Void)?

  /// Called when it has room again, because entries were sent.
  package var onRoom: (() -> Void)?
  private var roomAlarm: (any Disposable)?

  /// - Parameter max: The most entries that are given and not finished.
  package init(_ handle: Handle, on client: Client, max: Int) {
    self.max = max
    super.init(handle, on: client)
  }

  /// Whether it gets no more entries, and only finishes those it has.
  package var isDraining = false {
    didSet { client.list() }
  }

  /// Whether the worker can take another entry.
  package var hasRoom: Bool {
    closing == nil && !isOver && !isDraining && open.count < max && waitingBytes < client.chunkSize
  }

  /// Gives an entry to the worker.
  ///
  /// - Parameter delivery: 1 for the first time.
  package func give(_ entry: LogEntry, delivery: Int) {
    open.append(entry.seq)
    deliveries[entry.seq] = delivery
    waiting.append((entry, delivery))
    waitingBytes += entry.tail.utf8.count
    markDirty()
  }

  /// Takes an entry back, because it is finished or delivered elsewhere.
  package func remove(_ seq: UInt64) {
    if let i = open.firstIndex(of: seq) { open.remove(at: i) }
    deliveries[seq] = nil
    client.list()
    guard let i = waiting.firstIndex(where: { $0.entry.seq == seq }) else { return }
    waitingBytes -= waiting.remove(at: i).entry.tail.utf8.count
  }

  /// Tells the worker that entries were removed before anyone got them.
  package func addMissed(_ range: ClosedRange<UInt64>) {
    missed.append(range)
    markDirty()
  }

  /// Ends the subscription with a reason, before anything else is sent.
  package func close(_ reason: String) {
    closing = reason
    markDirty()
  }

  override func fill(_ buffer: inout ByteBuffer) -> Bool {
    if let closing {
      close(closing, &buffer)
      return true
    }
    for range in missed { notifyLagged(missed: range, &buffer) }
    missed = []
    var count = 0
    let wasFull = waitingBytes >= client.chunkSize
    defer {
      waiting.removeFirst(count)
      if wasFull, waitingBytes < client.chunkSize { reportRoom() }
    }
    for (entry, delivery) in waiting {
      guard buffer.count < client.chunkSize else { return false }
      let start = buffer.count
      appendHead(to: &buffer)
      if delivery > 1 {
        buffer.member("delivery", delivery)
        buffer.separate()
      }
      buffer.append(entry.tail)
      waitingBytes -= entry.tail.utf8.count
      count += 1
      guard checkLine(from: start, seq: entry.seq, &buffer) else {
        tooLong = entry.seq
        return true
      }
    }
    return true
  }

  /// Reports the room in the next turn, because this one is being sent.
  private func reportRoom() {
    roomAlarm = context.scheduler.schedule(after: 0) { [unowned self] in
      roomAlarm = nil
      onRoom?()
    }
  }

  /// Keeps the events that were sent and are not finished, so that the worker can finish them after
  /// a restart of the daemon.
  override func keepWork(in kept: HandoverClient) {
    let unsent = Set(waiting.map(\.entry.seq))
    let work = Work(
      isDraining: isDraining,
      events: open.filter { !unsent.contains($0) }.map {
        Work.Event(seq: $0, delivery: deliveries[$0] ?? 1)
      })
    guard work != keptWork, let text = try? context.views.encoder.text(work) else { return }
    keptWork = work
    kept.set(HandoverItem(.work, handle.text.text, text))
  }

  /// Restores an event that was delivered before the restart.
  package func resume(_ event: Work.Event) {
    open.append(event.seq)
    deliveries[event.seq] = event.delivery
  }

  /// The events that a worker has.
  package struct Work: Codable, Equatable {
    package struct Event: Codable, Equatable {
      package let seq: UInt64

      /// The number of the delivery, from 1 on.
      package let delivery: Int
    }

    package let isDraining: Bool
    package let events: [Event]
  }

  private var keptWork: Work?

  override func end() {
    roomAlarm?.dispose()
    onEnd?()
    (onEnd, onRoom) = (nil, nil)
  }
}
