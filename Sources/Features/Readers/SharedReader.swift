internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// A durable reader whose events several workers share: each event goes to one of them, and again
/// to one until it is finished or parked.
///
/// The journal keeps what is finished. Which worker has an event, and how often it was delivered,
/// is known only while the daemon runs; after a restart, unfinished events are delivered as new.
final class SharedReader {
  /// The terms on which a worker gets events.
  struct Terms {
    /// The time in which it finishes an event, in milliseconds.
    let ackWait: Int

    /// The deliveries of an event after which it is parked.
    let maxDeliveries: Int
  }

  /// An event that was delivered and is not finished.
  private final class Item {
    var deliveries = 0

    /// The worker that has it; `nil` while it waits.
    var worker: WorkSubscription?

    /// The end of the worker's time, or of the pause before the next delivery.
    var timer: (any Disposable)?

    var isBusy: Bool { worker != nil || timer != nil }
  }

  /// The size of the window after the first unfinished event.
  ///
  /// A stuck event blocks the reader only when the window is full.
  private static let maxWindow = 10_000

  let name: String
  private let service: ReadersService
  private let host: ServiceHost
  private let scheduler: any Scheduler

  /// The events to deliver, and what they depend on; all workers have the same.
  private var events = (source: LogSource.none, key: "")
  private var source: LogSource { events.source }
  var key: String { events.key }

  /// Whether each event waits until the one before it is finished or parked.
  var inOrder = false

  private var workers: [(subscription: WorkSubscription, terms: Terms)] = []

  /// The index of the worker that gets the next event, if it has room.
  private var turn = 0
  private var items: [UInt64: Item] = [:]

  /// The positions read after that of the reader; those before `start` are finished.
  private var window: [UInt64] = []
  private var start = 0

  /// The positions of the window that are not finished.
  private var open: Set<UInt64> = []

  /// The position up to which events were read.
  private var cursor: UInt64 = 0

  /// Whether everything durable was read, so that new events can be taken as they happen.
  private var isCaughtUp = false

  /// The events that were read and not delivered yet, newest first.
  private var read: [LogEntry] = []

  /// The limits of ``read`` for new events: their number, and the bytes of each.
  ///
  /// Events beyond them are read from the journal later.
  private static let (maxTaken, maxTakenBytes) = (256, 4096)

  /// The new events that no filter has seen.
  private let inbox = WorkInbox()

  /// The positions of events to read and deliver again.
  private var again: Set<UInt64> = []
  private var reading: (any Disposable)?
  private var readingAgain: (any Disposable)?
  private var watch: (any Disposable)?

  init(_ name: String, _ service: ReadersService, _ host: ServiceHost, _ scheduler: any Scheduler) {
    (self.name, self.service, self.host, self.scheduler) = (name, service, host, scheduler)
  }

  // MARK: Figures

  /// The number of workers; of events that they have, and of other ones that were read and are not
  /// finished; and whether there may be more.
  var figures: (workers: Int, inHand: Int, waiting: Int, isMore: Bool) {
    let inHand = items.values.count { $0.worker != nil }
    return (workers.count, inHand, max(0, open.count + inbox.count - inHand), !isCaughtUp)
  }

  // MARK: Workers

  var hasWorkers: Bool { !workers.isEmpty }

  /// Adds a worker.
  ///
  /// - Parameters:
  ///   - source: The events, the new ones not filtered by data; used if it is the first worker.
  ///   - isWanted: Returns whether a new event passes the filter; `nil` if all do.
  ///   - key: What the events depend on.
  func add(
    _ worker: WorkSubscription, _ terms: Terms, _ source: LogSource,
    where isWanted: ((LogEntry) -> Bool)?, _ key: String
  ) {
    if workers.isEmpty {
      events = (source, key)
      // The work of a user may hold the inbox for longer than this reader exists.
      inbox.onEntry = { [weak self] entry in
        if isWanted?(entry) ?? true { self?.addLive(entry) } else { self?.cursor = entry.seq }
      }
      inbox.onEmpty = { [weak self] in self?.pump() }
      watch = source.live.observeNext { [unowned self] entry in receive(entry) }
      reset()
    }
    workers.append((worker, terms))
    worker.onRoom = { [unowned self] in pump() }
    pump()
  }

  /// Removes a worker whose subscription ends; its events go to others.
  func remove(_ worker: WorkSubscription) {
    guard let i = workers.firstIndex(where: { $0.subscription === worker }) else { return }
    let terms = workers.remove(at: i).terms
    if workers.isEmpty { pause() }
    guard !worker.client.context.isStopping else { return end() }
    for (i, seq) in worker.open.enumerated().reversed() {
      if let tooLong = worker.tooLong {
        // The event fits into no line of such a worker; its other events are not at fault.
        if seq != tooLong { items[seq]?.deliveries -= 1 }
        deliverAgain(seq, parkedFor: seq == tooLong ? "too long for a line of the worker" : nil)
        continue
      }
      // It worked on the first; it may not even have seen the others.
      if i > 0 { items[seq]?.deliveries -= 1 }
      let isCause = i == 0 && items[seq]?.deliveries ?? 0 >= terms.maxDeliveries
      deliverAgain(seq, parkedFor: isCause ? "the connection of the worker ended" : nil)
    }
    pump()
  }

  /// Stops reading, because there are no workers.
  private func pause() {
    watch?.dispose()
    reading?.dispose()
    readingAgain?.dispose()
    (watch, reading, readingAgain, isCaughtUp) = (nil, nil, nil, false)
    inbox.removeAll()
    events.source = .none
  }

  /// Ends everything, because the reader is removed or the daemon stops.
  func end() {
    pause()
    for item in items.values { item.timer?.dispose() }
    items = [:]
  }

  /// Ends the subscriptions of all workers with a reason.
  func close(_ reason: String) {
    let workers = workers
    self.workers = []
    for worker in workers {
      worker.subscription.close(reason)
    }
    end()
  }

  private func terms(of worker: WorkSubscription) -> Terms? {
    workers.first { $0.subscription === worker }?.terms
  }

  // MARK: Answers of workers

  /// Returns whether a worker has an event.
  func has(_ worker: WorkSubscription, _ seq: UInt64) -> Bool { items[seq]?.worker === worker }

  /// Finishes an event that a worker has.
  func finish(_ seq: UInt64, by worker: WorkSubscription, _ command: Command) throws(Refusal) {
    defer { pump() }
    try finish(seq, command) { [service, name] floor throws(ReaderError) in
      try service.finish(name, seq, floor: floor)
    }
    worker.remove(seq)
  }

  /// Gives an event back.
  ///
  /// - Parameters:
  ///   - delay: The pause before the next delivery, in milliseconds.
  ///   - hasBegun: Whether the delivery counts.
  /// - Returns: Whether it was parked, because it was delivered too often.
  func giveBack(
    _ seq: UInt64, by worker: WorkSubscription, after delay: Int, reason: String,
    hasBegun: Bool = true
  ) -> Bool {
    if !hasBegun { items[seq]?.deliveries -= 1 }
    let isLast = items[seq]?.deliveries ?? 0 >= terms(of: worker)?.maxDeliveries ?? .max
    worker.remove(seq)
    let isParked = deliverAgain(seq, parkedFor: isLast ? reason : nil, after: delay)
    pump()
    return isParked
  }

  /// Gives an event back to the worker that had it with an earlier daemon, unless it is finished.
  func resume(_ event: WorkSubscription.Work.Event, by worker: WorkSubscription) {
    guard needsDelivery(event.seq), let wait = terms(of: worker)?.ackWait else { return }
    let item = Item()
    items[event.seq] = item
    (item.deliveries, item.worker) = (event.delivery, worker)
    item.timer = timeout(of: event.seq, worker, after: wait)
    worker.resume(event)
  }

  /// Starts the time of a worker for an event again.
  func extend(_ seq: UInt64, by worker: WorkSubscription) {
    guard let wait = terms(of: worker)?.ackWait else { return }
    items[seq]?.timer?.dispose()
    items[seq]?.timer = timeout(of: seq, worker, after: wait)
  }

  /// Delivers parked events again.
  func retry(_ seqs: [UInt64]) {
    guard hasWorkers else { return }
    for seq in seqs where items[seq]?.isBusy != true { again.insert(seq) }
    pump()
  }

  // MARK: Delivery

  /// Gives events to workers that have room, and reads more if there are none.
  private func pump() {
    while let next = nextWorker() {
      if readingAgain == nil, let first = again.min() { readAgain(from: first) }
      guard !inOrder || !mustWait else { return }
      guard let entry = read.popLast() else { return readMore() }
      guard needsDelivery(entry.seq) else { continue }
      deliver(entry, to: workers[next].subscription, workers[next].terms)
      turn = next + 1
    }
  }

  /// Whether an event is with a worker, in a pause before its next delivery, or being read again.
  private var mustWait: Bool {
    readingAgain != nil || !again.isEmpty || items.values.contains(where: \.isBusy)
  }

  /// Returns the index of the next worker with room, in turn.
  private func nextWorker() -> Int? {
    for i in 0..<workers.count {
      let next = (turn + i) % workers.count
      if workers[next].subscription.hasRoom { return next }
    }
    return nil
  }

  /// Returns whether an event that was read is still to be delivered.
  private func needsDelivery(_ seq: UInt64) -> Bool {
    let newest = service.ledger.pending
    guard items[seq]?.isBusy != true, let position = newest[name], let state = newest.shared(name)
    else { return false }
    return seq <= position || state.isSettled(seq) ? state.retried.contains(seq) : true
  }

  private func deliver(_ entry: LogEntry, to worker: WorkSubscription, _ terms: Terms) {
    let item = items[entry.seq] ?? Item()
    items[entry.seq] = item
    item.deliveries += 1
    item.worker = worker
    item.timer = timeout(of: entry.seq, worker, after: terms.ackWait)
    worker.give(entry, delivery: item.deliveries)
  }

  private func timeout(
    of seq: UInt64, _ worker: WorkSubscription, after wait: Int
  ) -> any Disposable {
    scheduler.schedule(after: Double(wait) / 1000) { [unowned self, unowned worker] in
      items[seq]?.timer = nil
      _ = giveBack(seq, by: worker, after: 0, reason: "not acknowledged within \(wait) ms")
    }
  }

  /// Delivers an event again, or parks it.
  ///
  /// - Parameters:
  ///   - reason: The reason to park it; `nil` to deliver it again.
  ///   - delay: The pause before the next delivery, in milliseconds.
  /// - Returns: Whether it was parked.
  @discardableResult
  private func deliverAgain(
    _ seq: UInt64, parkedFor reason: String?, after delay: Int = 0
  ) -> Bool {
    guard let item = items[seq] else { return false }
    item.timer?.dispose()
    (item.worker, item.timer) = (nil, nil)
    if let reason, park(seq, reason, item.deliveries) { return true }
    // If it cannot be parked, it is delivered again after a while.
    let delay = reason == nil ? delay : max(delay, 1_000)
    guard delay > 0 else {
      again.insert(seq)
      return false
    }
    item.timer = scheduler.schedule(after: Double(delay) / 1000) { [unowned self] in
      items[seq]?.timer = nil
      again.insert(seq)
      pump()
    }
    return false
  }

  /// Puts an event aside; returns `false` if the journal refuses, or too many are parked.
  private func park(_ seq: UInt64, _ reason: String, _ deliveries: Int) -> Bool {
    let parked = service.ledger.pending.shared(name)?.parked.count ?? 0
    guard parked < SharedReading.maxParked else { return false }
    do throws(Refusal) {
      let command = Command(method: "readers.park", caller: host.daemon)
      let reason = reason.cut(toBytes: SharedReading.maxReasonBytes)
      try finish(seq, command) { [service, name] floor throws(ReaderError) in
        try service.park(name, seq, reason: reason, deliveries: deliveries, floor: floor)
      }
      return true
    } catch {
      return false
    }
  }

  /// Records that an event needs no more delivery.
  private func finish(
    _ seq: UInt64, _ command: Command,
    _ record: @escaping (_ floor: UInt64) throws(ReaderError) -> Void
  ) throws(Refusal) {
    open.remove(seq)
    let floor = rise()
    do throws(Refusal) {
      _ = try host.perform(command) {
        try record(floor)
        return nil
      }
    } catch {
      // The event is not finished, and neither is what was read after it.
      reset()
      throw error
    }
    items.removeValue(forKey: seq)?.timer?.dispose()
  }

  /// Returns the position up to which all events are finished.
  private func rise() -> UInt64 {
    while start < window.count, !open.contains(window[start]) { start += 1 }
    if isCaughtUp, inbox.isEmpty { cursor = max(cursor, source.position()) }
    let floor = start < window.count ? window[start] - 1 : cursor
    if start > window.count / 2 {
      window.removeFirst(start)
      start = 0
    }
    return floor
  }

  // MARK: Reading

  /// Reads again from the position of the reader on; events that a worker has stay there.
  private func reset() {
    guard let state = service.ledger.pending.shared(name), hasWorkers || watch != nil else {
      return
    }
    reading?.dispose()
    readingAgain?.dispose()
    (reading, readingAgain, isCaughtUp) = (nil, nil, false)
    (window, start, open, read) = ([], 0, [], [])
    inbox.removeAll()
    cursor = service.ledger.pending[name] ?? 0
    again = state.retried.filter { items[$0]?.isBusy != true }
  }

  /// Delivers again what seemed finished, because the journal has lost events.
  func goBack() {
    reset()
    pump()
  }

  private func readMore() {
    guard reading == nil, !isCaughtUp, cursor < source.position(),
      window.count - start < Self.maxWindow
    else {
      return
    }
    reading = source.read(cursor, LogSource.pageEntries).observe { [unowned self] event in
      switch event {
      case .next(let page): add(page)
      case .failed:
        // Events at the beginning were removed: what is left of them cannot be delivered.
        guard source.first() > cursor + 1 else { return tryAgain() }
        pass(cursor + 1...source.first() - 1)
      case .completed: return
      }
      reading = nil
      pump()
    }
  }

  /// Reads again after a pause, because reading has failed.
  private func tryAgain() {
    reading = scheduler.schedule(after: 1) { [unowned self] in
      reading = nil
      pump()
    }
  }

  /// Keeps a new event for the time of the user of the first worker.
  private func receive(_ entry: LogEntry) {
    guard let worker = workers.first?.subscription else { return }
    if isCaughtUp {
      if inbox.count < Self.maxTaken, entry.tail.utf8.count <= Self.maxTakenBytes {
        inbox.append(entry)
      } else {
        fallBehind()
      }
    }
    worker.client.context.add(inbox, for: worker.client.peer.uid)
  }

  /// Takes an event that passes the filter, without reading it from the journal.
  private func addLive(_ entry: LogEntry) {
    if read.count < Self.maxTaken, window.count - start < Self.maxWindow {
      window.append(entry.seq)
      open.insert(entry.seq)
      read.insert(entry, at: 0)
      cursor = entry.seq
    } else {
      fallBehind()
    }
  }

  /// Lets the following events be read from the journal.
  private func fallBehind() {
    isCaughtUp = false
    inbox.removeAll()
  }

  private func add(_ page: Page<LogEntry>) {
    let state = service.ledger.pending.shared(name)
    for hole in page.holes { pass(hole) }
    var new: [LogEntry] = []
    for entry in page.entries where state?.isSettled(entry.seq) == false {
      window.append(entry.seq)
      open.insert(entry.seq)
      if items[entry.seq]?.isBusy != true { new.append(entry) }
    }
    read = new.reversed() + read
    cursor = max(cursor, page.end)
    isCaughtUp = cursor >= source.position()
  }

  /// Tells the workers that events were removed from the journal before they were delivered.
  private func pass(_ missed: ClosedRange<UInt64>) {
    guard missed.upperBound > cursor else { return }
    cursor = missed.upperBound
    for worker in workers { worker.subscription.addMissed(missed) }
  }

  /// Reads the oldest events to deliver again, as many as one page holds.
  private func readAgain(from first: UInt64) {
    readingAgain = source.read(first - 1, LogSource.pageEntries).observe { [unowned self] event in
      switch event {
      case .next(let page): addAgain(page, from: first)
      case .failed:
        again.remove(first)
        if first < source.first() { forget(first) }
      case .completed: return
      }
      readingAgain = nil
      pump()
    }
  }

  private func addAgain(_ page: Page<LogEntry>, from first: UInt64) {
    let found = again.filter { first...max(first, page.end) ~= $0 }
    again.subtract(found)
    let entries = page.entries.filter { found.contains($0.seq) }
    // Behind those that were read: they are the next to be delivered.
    read += entries.reversed()
    // Events that only the filter of these workers excludes stay for other workers.
    for seq in found.subtracting(entries.map(\.seq))
    where page.holes.contains(where: { $0.contains(seq) }) { forget(seq) }
  }

  /// Finishes an event that was removed from the journal, or that the workers may not see any more.
  private func forget(_ seq: UInt64) {
    let command = Command(method: "readers.pass", caller: host.daemon)
    // If the journal refuses, the event is looked for again after the next start.
    try? finish(seq, command) { [service, name] floor throws(ReaderError) in
      try service.finish(name, seq, floor: floor)
    }
  }
}

/// The new events of a shared reader, which its filter sees one at a time in the time of a user.
private final class WorkInbox: SlicedWork {
  var isQueued = false

  /// Called with each event.
  var onEntry: (LogEntry) -> Void = { _ in }

  /// Called after the last one, and if there is none.
  var onEmpty: () -> Void = {}
  private var entries = Queue<LogEntry>()

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  func append(_ entry: LogEntry) { entries.append(entry) }
  func removeAll() { entries.removeAll() }

  func step() -> Bool {
    if let entry = entries.popFirst() { onEntry(entry) }
    if entries.isEmpty { onEmpty() }
    return !entries.isEmpty
  }
}
