package import JSON
internal import Journal
package import Model
package import Signals

/// A walk through the past changes of some sources, oldest first.
package struct PastWalk: Sendable {
  /// The moment at which it begins.
  package enum Start: Sendable {
    /// After an event.
    case position(UInt64)

    /// At a time in microseconds since 1970.
    case time(Int64)
  }

  /// The sources whose changes the visitor gets.
  package let sources: Set<String>

  /// The services whose states the visitor sees at the start, besides those of the sources.
  package let services: Set<String>
  package let start: Start

  /// The microseconds that it begins earlier, as far as the journal reaches back.
  package let lead: Int64

  /// Whether it begins later if events after the start were removed; it fails otherwise.
  package let isClamped: Bool

  /// The time of its end, in microseconds since 1970, and the last position.
  package let until: Int64
  package let through: UInt64

  package init(
    of sources: Set<String>, and services: Set<String>, from start: Start, lead: Int64,
    isClamped: Bool, until: Int64, through: UInt64
  ) {
    (self.sources, self.services, self.start) = (sources, services, start)
    (self.lead, self.isClamped) = (lead, isClamped)
    (self.until, self.through) = (until, through)
  }
}

/// A past change of a source.
package struct PastChange {
  package let source: String

  /// The value after the event; `nil` if there is none.
  package let value: JSONText?
  package let event: JournalEvent
}

/// The states of services at a past position.
package struct PastStates {
  fileprivate let folds: [String: any Projection]

  /// Returns the value of a source; `nil` if it has none.
  package func value(of source: String) -> JSONText? {
    folds[source.firstSegment]?.value(of: source)
  }

  /// Returns the names of the sources of a service that have a value.
  package func sources(of service: String) -> [String] { folds[service]?.sources ?? [] }
}

/// Receives past changes; used on the thread of a reader.
package protocol PastVisitor: AnyObject, SendableMetatype {
  associatedtype Report: Sendable

  /// Begins.
  ///
  /// - Parameters:
  ///   - seq: The position of the states.
  ///   - time: Their time, in microseconds since 1970.
  ///   - begin: The time at which the walk was asked to begin, without the lead.
  func start(_ states: PastStates, at seq: UInt64, time: Int64, begin: Int64)

  /// Receives the next change.
  func receive(_ change: PastChange)

  /// Called after some events of all services have been read.
  ///
  /// - Parameters:
  ///   - seq: The last of them.
  ///   - time: Its time.
  /// - Returns: Whether to go on.
  func proceed(past seq: UInt64, time: Int64, events: Int) -> Bool

  /// Ends.
  func finish() -> Report
}

extension ServiceHost {
  /// Walks through past changes off the loop.
  ///
  /// - Returns: A signal of the report. It fails with ``JournalError/outOfRange(first:last:)`` if events
  ///   of the walk were removed.
  package func walk<Visitor: PastVisitor>(
    _ walk: PastWalk, _ makeVisitor: @escaping @Sendable () -> Visitor
  ) -> Signal<Visitor.Report, JournalError> {
    let services = Set(walk.sources.map(\.firstSegment)).union(walk.services)
    let makers = makeProjections.filter {
      services.contains($0.key) && $0.key != JournalProjection.service
    }
    let forms = eventForms
    return reading(.trial) { reader throws(JournalError) in
      let visitor = makeVisitor()
      var run = try WalkRun(walk, makers, forms, reader)
      try run.start(visitor)
      while try run.step(visitor) {}
      return visitor.finish()
    }
  }
}

/// A walk that has begun.
private struct WalkRun {
  private typealias Maker = @Sendable () -> any Projection

  /// A service of the sources.
  private final class Part {
    let service: String
    let make: Maker
    var fold: any Projection

    /// Whether `fold` is at the position of the walk.
    ///
    /// It is needed only where an event alone does not determine the value.
    var isFolded: Bool

    init(_ service: String, _ make: @escaping Maker, _ fold: any Projection) {
      (self.service, self.make, self.fold) = (service, make, fold)
      isFolded = fold.dependsOnState
    }
  }

  /// The events of one page.
  private static let page = 256

  /// The most streams whose relation to the sources is kept.
  private static let mostStreams = 50_000

  private let walk: PastWalk
  private let reader: any JournalReader
  private let forms: [String: EventForms]
  private let states: PastStates
  private let begin: Int64
  private let startTime: Int64
  private let startSeq: UInt64
  private let through: UInt64
  private var parts: [String: Part] = [:]
  private var end: UInt64

  /// The services whose states consist of events of other ones too.
  private let followers: [Part]

  /// The service of each stream whose events may change a source; `nil` for others.
  private var streams: [String: Part?] = [:]

  init(
    _ walk: PastWalk, _ makers: [String: @Sendable () -> any Projection],
    _ forms: [String: EventForms], _ reader: any JournalReader
  ) throws(JournalError) {
    (self.walk, self.reader, self.forms) = (walk, reader, forms)
    let place = try Self.begin(walk, makers, reader)
    (startSeq, begin, startTime) = (place.seq, place.begin, place.time)
    states = PastStates(folds: place.folds)
    end = place.seq
    through = min(walk.through, try reader.position(at: walk.until))
    for service in Set(walk.sources.map(\.firstSegment)) {
      guard let make = makers[service], let fold = place.folds[service] else { continue }
      parts[service] = Part(service, make, fold)
    }
    followers = parts.values.filter { !$0.fold.others.isEmpty }
  }

  private struct Place {
    let seq: UInt64
    let time: Int64
    let begin: Int64
    let folds: [String: any Projection]
  }

  /// Finds the first position and its states: with the lead if the journal reaches back that far.
  private static func begin(
    _ walk: PastWalk, _ makers: [String: Maker], _ reader: any JournalReader
  ) throws(JournalError) -> Place {
    var (begin, asked): (Int64, UInt64)
    switch walk.start {
    case .time(let time): (begin, asked) = (time, try reader.position(at: time))
    case .position(let seq):
      asked = seq
      if let time = try reader.checkPast(seq) {
        begin = time
      } else {
        begin = try time(after: seq, reader) ?? 0
      }
    }
    if walk.lead > 0 {
      let time = begin - walk.lead
      let seq = try reader.position(at: time)
      if let folds = try? Self.folds(walk, makers, reader, at: seq) {
        return Place(seq: seq, time: time, begin: begin, folds: folds)
      }
    }
    for _ in 0..<3 {
      do throws(JournalError) {
        let folds = try Self.folds(walk, makers, reader, at: asked)
        return Place(seq: asked, time: begin, begin: begin, folds: folds)
      } catch {
        guard walk.isClamped, case .outOfRange(let first, _) = error, first > asked,
          let time = try time(after: first - 1, reader)
        else { throw error }
        (asked, begin) = (first, time)
      }
    }
    let folds = try Self.folds(walk, makers, reader, at: asked)
    return Place(seq: asked, time: begin, begin: begin, folds: folds)
  }

  /// Returns the time of the first event after a position; `nil` if there is none.
  private static func time(
    after seq: UInt64, _ reader: any JournalReader
  ) throws(JournalError) -> Int64? {
    try reader.records(after: seq, limit: 1).first?.time
  }

  /// Returns the states at a position.
  ///
  /// - Throws: ``JournalError/outOfRange(first:last:)`` if they are not known, or if events of their
  ///   services behind it were removed.
  private static func folds(
    _ walk: PastWalk, _ makers: [String: Maker], _ reader: any JournalReader, at seq: UInt64
  ) throws(JournalError) -> [String: any Projection] {
    try reader.check(seq)
    let services = makers.values.reduce(into: Set(makers.keys)) {
      $0.formUnion($1().others.services)
    }
    for service in services {
      let removed = try reader.lastRemoval(of: service, upTo: walk.through)
      guard removed <= seq else {
        throw .outOfRange(first: removed, last: try reader.bounds().last)
      }
    }
    return try reader.fold(makers, upTo: seq)
  }

  func start(_ visitor: some PastVisitor) throws(JournalError) {
    visitor.start(states, at: startSeq, time: startTime, begin: begin)
  }

  /// Reads a page.
  ///
  /// - Returns: Whether there is more.
  mutating func step(_ visitor: some PastVisitor) throws(JournalError) -> Bool {
    guard end < through else { return false }
    let limit = Int(min(through - end, UInt64(Self.page)))
    let records = try reader.records(after: end, limit: limit)
    guard let last = records.last else { return false }
    for record in records where record.seq <= through {
      if let part = part(of: record) { try pass(record, part, to: visitor) }
      for follower in followers where follower.fold.isOther(record) {
        try pass(record, follower, to: visitor)
      }
    }
    end = last.seq
    return visitor.proceed(past: end, time: last.time, events: records.count) && end < through
  }

  private func pass(
    _ record: Record, _ part: Part, to visitor: some PastVisitor
  ) throws(JournalError) {
    var changes = part.isFolded ? nil : part.fold.given(by: record)
    if changes?.contains(where: { $0.step != nil && walk.sources.contains($0.source) }) == true {
      changes = nil
    }
    if changes == nil, !part.isFolded {
      part.fold = part.make()
      try part.fold.advance(reader, of: part.service, to: record.seq - 1)
      part.isFolded = true
    }
    for change in changes ?? part.fold.changes(by: record, where: walk.sources.contains)
    where walk.sources.contains(change.source) {
      let value = change.step == nil ? change.value : part.fold.value(of: change.source)
      visitor.receive(
        PastChange(source: change.source, value: value, event: JournalEvent(record, forms)))
    }
  }

  /// Returns the service of a record that may change a source, or that its state depends on.
  private mutating func part(of record: Record) -> Part? {
    let stream = record.stream
    if let known = streams[stream] {
      guard known == nil else { return known }
      return folded(record)
    }
    if streams.count >= Self.mostStreams { streams = [:] }
    let part = isRelated(stream) ? parts[record.service] : nil
    streams[stream] = .some(part)
    return part ?? folded(record)
  }

  /// Returns the service of a record if its state is kept up to date.
  private func folded(_ record: Record) -> Part? {
    guard parts.values.contains(where: { $0.isFolded }), let part = parts[record.service],
      part.isFolded
    else { return nil }
    return part
  }

  /// Whether the events of a stream may change a source: its name, a part or a whole of it.
  private func isRelated(_ stream: String) -> Bool {
    if walk.sources.contains(stream) { return true }
    if stream.prefixes.contains(where: { walk.sources.contains($0) }) { return true }
    return walk.sources.contains { $0.hasPrefix(stream + "/") }
  }
}
