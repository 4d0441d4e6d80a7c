package import Facts
package import JSON
internal import Journal
package import Signals

extension ServiceHost {
  /// How much one page holds: what a client gets before the next is read.
  private static let pageBytes = 256 * 1024
  private static let chunk = 64

  /// The events that become durable from now on and are wanted.
  package func events(_ filter: EventFilter) -> Signal<JournalEvent, Never> {
    watchers.events(filter)
  }

  /// Reads events after a position, oldest first.
  ///
  /// - Returns: A signal of one page, of `limit` events at the most. When it holds none, there are
  ///   none up to its end, which is after the position unless that is the last.
  package func readEvents(
    after seq: UInt64, limit: Int, _ filter: EventFilter
  ) -> Signal<EventPage, JournalFault> {
    let forms = eventForms
    return reading(.prompt) { reader throws(JournalError) in
      try Self.page(reader, after: seq, limit: limit, filter, forms)
    }
  }

  private static func page(
    _ reader: any JournalReader, after seq: UInt64, limit: Int, _ filter: EventFilter,
    _ forms: [String: EventForms]
  ) throws(JournalError) -> EventPage {
    try reader.check(seq)
    var events: [JournalEvent] = []
    var holes: [ClosedRange<UInt64>] = []
    var (end, bytes, scanned) = (seq, 0, 0)
    // Neither a page nor the time for it grows beyond measure where few events are wanted.
    while events.count < limit, bytes < pageBytes, scanned < 4096 {
      let records = try reader.records(after: end, limit: chunk)
      guard !records.isEmpty else { break }
      scanned += records.count
      for record in records where events.count < limit {
        if record.seq > end + 1 { holes.append(end + 1...record.seq - 1) }
        end = record.seq
        guard let event = filter.event(of: record, forms) else { continue }
        events.append(event)
        bytes += record.data.utf8.count
      }
    }
    return EventPage(events: events, end: end, holes: holes)
  }

  /// Reads the last events before a position that are wanted.
  ///
  /// - Parameter seq: The first event not to be read; `nil` for the end of the journal.
  /// - Returns: A signal of one page, oldest first, of `limit` events unless there are fewer, or they
  ///   are long. Its end is 0 when there are none before it.
  package func readEvents(
    before seq: UInt64?, limit: Int, _ filter: EventFilter
  ) -> Signal<EventPage, JournalFault> {
    let end = seq.map { $0 - min($0, 1) } ?? durable
    let forms = eventForms
    let head = filter.onlyStream.map { self.head(of: $0).seq }
    return reading(.long) { reader throws(JournalError) in
      if let stream = filter.onlyStream, let head {
        return try Self.last(reader, of: stream, from: head, upTo: end, limit: limit, filter, forms)
      }
      return try Self.last(reader, upTo: end, limit: limit, filter, forms)
    }
  }

  /// Follows the chain of one stream.
  private static func last(
    _ reader: any JournalReader, of stream: String, from head: UInt64, upTo end: UInt64,
    limit: Int, _ filter: EventFilter, _ forms: [String: EventForms]
  ) throws(JournalError) -> EventPage {
    var page = BackwardPage(limit: limit, filter, forms)
    var next = head
    while next > 0, !page.isFull {
      let records = try reader.records(ofStream: stream, from: next, limit: chunk)
      guard let oldest = records.last else { break }
      for record in records where record.seq <= end { page.add(record) }
      next = oldest.previous
    }
    return page.page
  }

  /// Reads the journal backward, a chunk at a time.
  private static func last(
    _ reader: any JournalReader, upTo end: UInt64, limit: Int, _ filter: EventFilter,
    _ forms: [String: EventForms]
  ) throws(JournalError) -> EventPage {
    let (first, last) = try reader.bounds()
    var page = BackwardPage(limit: limit, filter, forms)
    var end = min(end, last)
    while end >= first, !page.isFull {
      let size = min(UInt64(chunk), end - first + 1)
      let records = try reader.records(after: end - size, limit: Int(size))
      for record in records.reversed() where record.seq <= end { page.add(record) }
      end -= size
    }
    return page.page
  }

  /// The wanted ones of the events that are shown to it, newest first, until there are enough.
  private struct BackwardPage {
    private let limit: Int
    private let filter: EventFilter
    private let forms: [String: EventForms]
    private var events: [JournalEvent] = []
    private var bytes = 0

    init(limit: Int, _ filter: EventFilter, _ forms: [String: EventForms]) {
      self.limit = limit
      self.forms = forms
      self.filter = filter
    }

    var isFull: Bool { events.count >= limit || bytes >= pageBytes }

    mutating func add(_ record: Record) {
      guard !isFull, let event = filter.event(of: record, forms) else { return }
      events.append(event)
      bytes += record.data.utf8.count
    }

    var page: EventPage {
      EventPage(events: events.reversed(), end: isFull ? events.last?.seq ?? 0 : 0)
    }
  }

  /// The answer of a command that was run before, with the value that is in the journal, and when the
  /// disk has it if that is waited for.
  package func finish(_ accepted: Accepted) -> Signal<Accepted, JournalFault> {
    let finished =
      accepted.isValueInJournal ? withValue(accepted) : Signal(just: accepted)
    guard accepted.isDiskAwaited else { return finished }
    return reachDisk().mapError(JournalFault.init).flatMapLatest { finished }
  }

  private func withValue(_ accepted: Accepted) -> Signal<Accepted, JournalFault> {
    let seq = accepted.seq ?? 1
    return reading(.prompt) { reader throws(JournalError) in
      let record = try reader.records(after: seq - 1, limit: 1).first
      let meta = record?.seq == seq ? record?.meta : nil
      return meta.flatMap { EventCoder().value(Meta.self, of: JSONText(kept: $0)) }?.value
    }
    .map { value in
      Accepted(value: value, seq: seq, version: accepted.version, isReplayed: true)
    }
  }

  /// The newest position whose time is not after a time, in microseconds since 1970.
  package func position(at time: Int64) -> Signal<UInt64, JournalFault> {
    reading(.prompt) { reader throws(JournalError) in try reader.position(at: time) }
  }

  /// The value that a source had when an event had just happened, and when that was.
  ///
  /// - Parameter source: The whole name, for example `"cells/lamp"`.
  /// - Returns: A signal of the value, `nil` when the source had none then. It fails with
  ///   ``JournalFault/outOfRange(first:last:)``, and when the journal does not read back.
  package func value(
    of source: String, at seq: UInt64
  ) -> Signal<PastValue, JournalFault> {
    guard let past = past(of: source, at: seq) else {
      return Signal { observer in
        observer.receive(PastValue(value: nil, time: nil))
        observer.complete()
        return NonDisposable.instance
      }
    }
    return reading(.long, past.read)
  }

  /// Tells once that a position is durable; fails when what was recorded there is lost.
  package func durability(of position: UInt64) -> Signal<Void, JournalFault> {
    Signal { [self] observer in
      guard position > durable else {
        observer.receive(())
        observer.complete()
        return NonDisposable.instance
      }
      let bag = DisposeBag()
      progress.observeNext { durable in
        guard durable >= position else { return }
        observer.receive(())
        observer.complete()
      }
      .dispose(in: bag)
      rejected.observeNext { observer.fail($0) }.dispose(in: bag)
      failed.observeNext { observer.fail($0) }.dispose(in: bag)
      return bag
    }
  }

  /// Every change of the sources that a pattern means, from now on.
  package func changes(in service: String, matching pattern: Pattern) -> Signal<SourceChange, Never>
  {
    ledger(service)?.changes(pattern) ?? .never()
  }

  /// Reads the changes of the sources that are wanted after a position, oldest first.
  ///
  /// - Returns: A signal of one page; see ``readEvents(after:limit:_:)``.
  package func readChanges(
    in service: String, after seq: UInt64, where isWanted: @escaping @Sendable (String) -> Bool
  ) -> Signal<ChangePage, JournalFault> {
    guard let makeFold = ledger(service)?.makeFold else {
      return Signal { observer in
        observer.complete()
        return NonDisposable.instance
      }
    }
    return reading(.prompt) { reader throws(JournalError) in
      try PastChanges(makeFold(), service, isWanted).read(reader, after: seq)
    }
  }

  /// Reads the journal away from the loop.
  private func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalFault> {
    readingStore(pace, job).mapError(JournalFault.init)
  }
}

/// Changes that follow each other.
package struct ChangePage: Sendable {
  package let changes: [SourceChange]

  /// The position up to which there are no others.
  package let end: UInt64

  /// As of an ``EventPage``.
  package let holes: [ClosedRange<UInt64>]

  init(changes: [SourceChange], end: UInt64, holes: [ClosedRange<UInt64>] = []) {
    (self.changes, self.end, self.holes) = (changes, end, holes)
  }
}

/// What a source was.
package struct PastValue: Equatable, Sendable {
  /// `nil` when it was not there.
  package let value: JSONText?

  /// When the event of that position happened, in microseconds since 1970; `nil` before the first.
  package let time: Int64?
}

extension JournalReader {
  /// Refuses a position behind which not all is kept: the beginning of the journal has gone.
  func check(_ seq: UInt64) throws(JournalError) {
    let bounds = try bounds()
    guard seq + 1 >= bounds.first else {
      throw .outOfRange(first: bounds.first, last: bounds.last)
    }
  }
}
