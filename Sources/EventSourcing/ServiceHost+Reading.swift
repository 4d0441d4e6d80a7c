package import JSON
package import Journal
package import Model
package import Signals

extension ServiceHost {
  /// The maximum size of a page in bytes; a client receives it before the next page is read.
  private static let pageBytes = 256 * 1024
  private static let chunk = 64

  /// Emits the matching events as they become durable, from now on.
  package func events(_ filter: EventFilter) -> Signal<JournalEvent, Never> {
    watchers.events(filter)
  }

  /// Returns the matching durable events from now on, to be collected.
  package func eventFeed(_ filter: EventFilter) -> EventFeed { watchers.feed(filter) }

  /// Reads events after a position, oldest first.
  ///
  /// - Parameter convert: Returns what the page has of an event; it is called on the thread that reads.
  /// - Returns: A signal of one page with at most `limit` events. If the page is empty, no events
  ///   match up to its end. The end is after `seq`, unless `seq` is the last position.
  package func readEvents<Entry: Sendable>(
    after seq: UInt64, limit: Int, _ filter: EventFilter,
    as convert: @escaping @Sendable (JournalEvent) -> Entry
  ) -> Signal<Page<Entry>, JournalError> {
    let forms = eventForms
    return reading(.prompt) { reader throws(JournalError) in
      try Self.page(reader, after: seq, limit: limit, filter, forms).map(convert)
    }
  }

  private static func page(
    _ reader: any JournalReader, after seq: UInt64, limit: Int, _ filter: EventFilter,
    _ forms: [String: EventForms]
  ) throws(JournalError) -> Page<JournalEvent> {
    try reader.check(seq)
    var events: [JournalEvent] = []
    var holes: [ClosedRange<UInt64>] = []
    var (end, bytes, scanned) = (seq, 0, 0)
    // Bounds the size of a page, and the time to read it when few events match.
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
    return Page(entries: events, end: end, holes: holes)
  }

  /// Reads the last matching events before a position.
  ///
  /// - Parameter seq: The first position not to read; `nil` for the end of the journal.
  /// - Returns: A signal of one page, oldest first. It has `limit` events, unless there are fewer
  ///   or they are long. Its end is 0 if no earlier events match.
  package func readEvents(
    before seq: UInt64?, limit: Int, _ filter: EventFilter
  ) -> Signal<Page<JournalEvent>, JournalError> {
    let end = seq.map { $0 - min($0, 1) } ?? durable
    let forms = eventForms
    let head = filter.onlyStream.flatMap {
      heads.mayHaveForgotten($0, in: streamNames) ? nil : self.head(of: $0)
    }
    return reading(.long) { reader throws(JournalError) in
      if let stream = filter.onlyStream, let head,
        let page = try Self.last(
          reader, of: stream, from: head.seq, upTo: end, limit: limit, filter, forms)
      {
        return page
      }
      return try Self.last(reader, upTo: end, limit: limit, filter, forms)
    }
  }

  /// Reads one stream backward along its links.
  ///
  /// - Returns: `nil` if the links end before the beginning of the stream, because it was forgotten.
  private static func last(
    _ reader: any JournalReader, of stream: String, from head: UInt64, upTo end: UInt64,
    limit: Int, _ filter: EventFilter, _ forms: [String: EventForms]
  ) throws(JournalError) -> Page<JournalEvent>? {
    var page = BackwardPage(limit: limit, filter, forms)
    var next = head
    while next > 0, !page.isFull {
      let records = try reader.records(ofStream: stream, from: next, limit: chunk)
      guard let oldest = records.last else { break }
      for record in records where record.seq <= end { page.add(record) }
      next = oldest.previous
      if next == 0, oldest.version > 1, !page.isFull { return nil }
    }
    return page.page
  }

  /// Reads the journal backward in chunks.
  private static func last(
    _ reader: any JournalReader, upTo end: UInt64, limit: Int, _ filter: EventFilter,
    _ forms: [String: EventForms]
  ) throws(JournalError) -> Page<JournalEvent> {
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

  /// Collects matching events, newest first, until the page is full.
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

    var page: Page<JournalEvent> {
      Page(entries: events.reversed(), end: isFull ? events.last?.seq ?? 0 : 0)
    }
  }

  /// Completes the answer of a repeated command.
  ///
  /// Loads its value from the journal, and waits for the disk, as required.
  package func finish(_ accepted: Accepted) -> Signal<Accepted, JournalError> {
    let finished =
      accepted.isValueInJournal ? withValue(accepted) : Signal(just: accepted)
    guard accepted.isDiskAwaited else { return finished }
    return reachDisk().flatMapLatest { finished }
  }

  private func withValue(_ accepted: Accepted) -> Signal<Accepted, JournalError> {
    let seq = accepted.seq ?? 1
    return reading(.prompt) { reader throws(JournalError) in
      let record = try reader.records(after: seq - 1, limit: 1).first
      let meta = record?.seq == seq ? record?.meta : nil
      return meta.flatMap { EventCoder().value(Meta.self, of: JSONText(trusted: $0)) }?.value
    }
    .map { value in
      Accepted(value: value, seq: seq, version: accepted.version, isReplayed: true)
    }
  }

  /// Finds the last position whose time is not after `time`, in microseconds since 1970.
  package func position(at time: Int64) -> Signal<UInt64, JournalError> {
    reading(.prompt) { reader throws(JournalError) in try reader.position(at: time) }
  }

  /// Reads the value of a source at a past position, and the time of that position.
  ///
  /// - Parameter source: The full name, for example `"cells/lamp"`.
  /// - Returns: A signal of the value, which is `nil` if the source had none. It fails with
  ///   ``JournalError/outOfRange(first:last:)``, or if the journal is unreadable.
  package func value(
    of source: String, at seq: UInt64
  ) -> Signal<PastValue, JournalError> {
    guard let past = past(of: source, at: seq) else {
      return Signal { observer in
        observer.receive(PastValue(value: nil, time: nil))
        observer.complete()
        return NonDisposable.instance
      }
    }
    return reading(.long, past.read)
  }

  /// Emits once a position is durable; fails if the events recorded there are lost.
  package func durability(of position: UInt64) -> Signal<Void, JournalError> {
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

  /// Emits every change of the sources that match a pattern, from now on.
  package func changes(in service: String, matching pattern: Pattern) -> Signal<SourceChange, Never>
  {
    ledger(service)?.changes(pattern) ?? .never()
  }

  /// Returns the changes of the sources that match a pattern, from now on, to be collected; `nil` if
  /// there is no such service.
  package func changeFeed(in service: String, of pattern: Pattern) -> (any ChangeFeed)? {
    ledger(service)?.feed(pattern)
  }

  /// Reads the changes of wanted sources after a position, oldest first.
  ///
  /// - Parameter convert: Returns what the page has of a change; it is called on the thread that reads.
  /// - Returns: A signal of one page; see ``readEvents(after:limit:_:as:)``.
  package func readChanges<Entry: Sendable>(
    in service: String, after seq: UInt64, where isWanted: @escaping @Sendable (String) -> Bool,
    as convert: @escaping @Sendable (SourceChange) -> Entry
  ) -> Signal<Page<Entry>, JournalError> {
    guard let makeProjection = ledger(service)?.makeProjection else {
      return Signal { observer in
        observer.complete()
        return NonDisposable.instance
      }
    }
    return reading(.prompt) { reader throws(JournalError) in
      try PastChanges(makeProjection(), service, isWanted).read(reader, after: seq).map(convert)
    }
  }

  /// Returns a query for a past value, or `nil` if the source belongs to no service.
  func past(of source: String, at seq: UInt64) -> Past? {
    guard let ledger = ledger(String(source.prefix { $0 != "/" })) else { return nil }
    return Past(
      makeProjection: ledger.makeProjection, service: ledger.service, source: source,
      head: store.head(of: source).seq, seq: seq)
  }

  /// See ``EventStore/reachDisk()``.
  func reachDisk() -> Signal<Void, JournalError> { store.reachDisk() }

  /// See ``EventStore/readNow(_:)``.
  func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    try store.readNow(job)
  }

  /// Reads the journal off the loop; see ``EventStore/reading(_:_:)``.
  package func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    store.reading(pace, job)
  }

  /// Frees a value on another thread; see ``EventStore/free(_:)``.
  package func free(_ value: consuming some Sendable) { store.free(value) }
}

/// The value of a source at a past position.
package struct PastValue: Equatable, Sendable {
  /// The value; `nil` if the source had none.
  package let value: JSONText?

  /// The time of the position's event in microseconds since 1970; `nil` for position 0 and for
  /// removed events.
  package let time: Int64?
}

extension JournalReader {
  /// Checks that all events after a position are retained.
  ///
  /// - Throws: ``JournalError/outOfRange(first:last:)`` if some were removed.
  func check(_ seq: UInt64) throws(JournalError) {
    let bounds = try bounds()
    guard seq + 1 >= bounds.first else {
      throw .outOfRange(first: bounds.first, last: bounds.last)
    }
  }
}

extension ServiceHost {
  /// The number of events to examine in a stream for the last one that changed a source.
  private static let maxSteps = 20_000

  /// Returns the last durable change of each source.
  ///
  /// Reads the journal synchronously, so use it only at the start. If the event was removed, or is
  /// too many events ago, its position is not known.
  package func lastChanges(
    of sources: Set<String>
  ) throws(JournalError) -> [String: LastChange] {
    let streams = streams(for: sources)
    return try readNow { reader throws(JournalError) in
      var changes: [String: LastChange] = [:]
      for service in Set(sources.map(\.firstSegment)) {
        guard let ledger = ledger(service), ledger.makeProjection().dependsOnState else { continue }
        let own = sources.filter { $0.firstSegment == service }
        let last = try reader.lastFoldedChanges(
          of: own, of: service, upTo: durable, steps: Self.maxSteps, ledger.makeProjection)
        for source in own {
          changes[source] =
            last.found[source].map { LastChange($0.record) } ?? LastChange(0...last.end)
        }
      }
      for source in sources where changes[source] == nil {
        var last = LastChange(0...0)
        if let fold = ledger(source.firstSegment)?.makeProjection() {
          for stream in streams[source] ?? [] {
            let change = try reader.lastChange(
              of: source, by: fold, in: stream, from: head(of: stream).seq,
              after: last.positions.lowerBound, steps: Self.maxSteps)
            last = last.merged(with: change)
          }
        }
        changes[source] = last
      }
      return changes
    }
  }

  /// The number of events to examine in a stream for one that a binding has written.
  private static let maxRunSteps = 256

  /// Returns the newest event of a source that a binding has written, among the last ones, and the value
  /// if it follows from the event alone.
  ///
  /// Reads the journal synchronously, so use it only at the start.
  ///
  /// - Parameter binding: See ``Command/Cause/binding``.
  package func lastRun(
    of binding: String, in source: String
  ) throws(JournalError) -> (time: Int64, value: JSONText?)? {
    guard let fold = ledger(source.firstSegment)?.makeProjection() else { return nil }
    let head = head(of: source).seq
    return try readNow { reader throws(JournalError) in
      var (next, left) = (head, Self.maxRunSteps)
      while next > 0, left > 0 {
        let records = try reader.records(ofStream: source, from: next, limit: 64)
        guard let oldest = records.last else { break }
        for record in records where JournalEvent(record).cause?.binding == binding {
          let change = fold.given(by: record)?.first { $0.source == source }
          return (record.time, change?.step == nil ? change?.value : nil)
        }
        (next, left) = (oldest.previous, left - records.count)
      }
      return nil
    }
  }

  /// Returns the streams whose events may change each source: those with the source's name, with
  /// a prefix of it, or with the source as prefix.
  private func streams(for sources: Set<String>) -> [String: [String]] {
    var found: [String: [String]] = [:]
    for source in sources {
      found[source] = source.prefixes.filter { head(of: $0).seq > 0 }
    }
    let services = Set(sources.map(\.firstSegment))
    heads.forEach { number, _ in
      let stream = streamNames.text(number)
      guard services.contains(stream.firstSegment) else { return }
      for prefix in stream.prefixes.dropFirst() where sources.contains(prefix) {
        found[prefix, default: []].append(stream)
      }
    }
    return found
  }
}

extension JournalReader {
  /// Returns the last event of a stream that changed a source.
  ///
  /// - Parameters:
  ///   - head: The last event of the stream.
  ///   - seq: Events up to this position are not examined.
  ///   - steps: The number of events to examine. Beyond it the position is not known.
  fileprivate func lastChange(
    of source: String, by fold: any Projection, in stream: String, from head: UInt64,
    after seq: UInt64, steps: Int
  ) throws(JournalError) -> LastChange {
    var (next, left) = (head, steps)
    while next > seq {
      let records = try records(ofStream: stream, from: next, limit: 64)
      guard let oldest = records.last, left > 0 else { return LastChange(0...next) }
      for record in records where record.seq > seq {
        if fold.sources(changedBy: record)?.contains(source) == true { return LastChange(record) }
      }
      left -= records.count
      next = oldest.previous
      // A stream that was forgotten begins again with a higher version.
      if next == 0, oldest.version > 1 { return LastChange(0...oldest.seq) }
    }
    return LastChange(0...0)
  }
}

/// The last durable change of a source.
package struct LastChange {
  /// The positions that its event may have: one if it is known; 0 if there was none.
  package let positions: ClosedRange<UInt64>

  /// The value that a binding has passed on with it; `nil` if it is not known to come from one.
  package let cause: Command.Cause?

  /// The time of its event in microseconds since 1970; `nil` if it is not known.
  package let time: Int64?

  package init(
    _ positions: ClosedRange<UInt64>, cause: Command.Cause? = nil, time: Int64? = nil
  ) {
    (self.positions, self.cause, self.time) = (positions, cause, time)
  }

  fileprivate init(_ record: Record) {
    let meta = record.meta.flatMap { EventCoder().value(Meta.self, of: JSONText(trusted: $0)) }
    self.init(record.seq...record.seq, cause: meta?.cause, time: record.time)
  }

  /// Returns the last of two changes; positions that are not known are those of both.
  package func merged(with other: LastChange) -> LastChange {
    let isOther = other.positions.lowerBound > positions.upperBound
    if isOther || positions.lowerBound > other.positions.upperBound {
      return isOther ? other : self
    }
    return LastChange(
      max(
        positions.lowerBound, other.positions.lowerBound)...max(
          positions.upperBound, other.positions.upperBound))
  }
}

extension String {
  /// The first segment of a path.
  var firstSegment: String { String(prefix { $0 != "/" }) }

  /// The path and its parent paths, the longest first.
  var prefixes: [String] {
    var prefixes = [self]
    for (index, character) in zip(indices, self).reversed() where character == "/" {
      prefixes.append(String(self[..<index]))
    }
    return prefixes
  }
}
