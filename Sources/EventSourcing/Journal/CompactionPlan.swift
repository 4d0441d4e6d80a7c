internal import Facts
internal import Journal

/// The events that a compaction removes: a set of streams, each up to a position.
struct CompactionPlan: Sendable {
  /// The requested compaction.
  enum Wish: Sendable {
    /// Remove the events that the rules do not retain; `time` is in microseconds since 1970.
    case rules([Retention], time: Int64)
    /// Remove everything before a position.
    case before(UInt64)
  }

  let wish: Wish

  /// Events of commands with an idempotency key are retained from this time on, because they hold
  /// the command's answer.
  let commandTime: Int64

  /// Makes the projections of all services that write snapshots.
  ///
  /// Events of other services are retained.
  let makeFolds: [String: @Sendable () -> any Fold]

  /// The end positions of the compaction: for each rule (0 for none), and their maximum.
  struct Ends: Sendable {
    fileprivate let byRule: [UInt64]
    let last: UInt64

    /// The position of the snapshots.
    ///
    /// It is not before the last removed event, because earlier states can no longer be computed.
    let snapshot: UInt64
  }

  private static let chunk: UInt64 = 256

  /// Computes the end positions; the last event of the journal always stays.
  func ends(_ reader: any JournalReader) throws(JournalError) -> Ends {
    let bounds = try reader.bounds()
    guard bounds.last > bounds.first else { return Ends(byRule: [], last: 0, snapshot: 0) }
    var ends: [UInt64]
    switch wish {
    case .before(let seq): ends = [seq - min(seq, 1)]
    case .rules(let rules, let time):
      ends = try surplus(rules, reader, bounds)
      for (i, rule) in rules.enumerated() {
        guard let age = rule.maxAge else { continue }
        ends[i] = max(ends[i], try reader.position(at: time - age * 1_000_000 - 1))
      }
    }
    ends = ends.map { min($0, bounds.last - 1) }
    let last = ends.max() ?? 0
    let removed = try reader.lastRemoval(of: Removal.anyService, upTo: .max)
    return Ends(byRule: ends, last: last, snapshot: max(last, removed))
  }

  /// Returns, for each rule, the last event that exceeds its limit on count or bytes.
  private func surplus(
    _ rules: [Retention], _ reader: any JournalReader, _ bounds: (first: UInt64, last: UInt64)
  ) throws(JournalError) -> [UInt64] {
    var ends = [UInt64](repeating: 0, count: rules.count)
    var kept = rules.map { _ in (count: 0, bytes: 0) }
    var open = Set(rules.indices.filter { rules[$0].maxCount != nil || rules[$0].maxBytes != nil })
    var end = bounds.last
    while !open.isEmpty, end >= bounds.first {
      let start = end - min(end, Self.chunk)
      let records = try reader.records(after: start, limit: Int(end - start))
      for record in records.reversed() where record.seq <= end {
        guard let i = rule(of: record.stream, rules), open.contains(i) else { continue }
        kept[i].count += 1
        kept[i].bytes += record.size
        guard kept[i].count > rules[i].maxCount ?? .max || kept[i].bytes > rules[i].maxBytes ?? .max
        else { continue }
        ends[i] = record.seq
        open.remove(i)
      }
      end = start
    }
    return ends
  }

  private func rule(of stream: String, _ rules: [Retention]) -> Int? {
    rules.firstIndex { $0.streams.matches(stream) }
  }

  /// Returns the next removal steps; each step examines up to `count` events.
  func steps(
    _ reader: any JournalReader, after seq: UInt64, upTo ends: Ends, of count: Int
  ) throws(JournalError) -> (steps: [Removal], end: UInt64) {
    let folds = makeFolds.mapValues { $0() }
    return try Removal.steps(reader, after: seq, upTo: ends.last, of: count) { record in
      // Events outside the known states would be lost.
      guard let fold = folds[record.service], fold.knows(record) else { return false }
      guard record.command == nil || record.time < commandTime else { return false }
      switch wish {
      case .before: return true
      case .rules(let rules, _):
        return rule(of: record.stream, rules).map { record.seq <= ends.byRule[$0] } ?? false
      }
    }
  }

  /// Returns whether readable snapshots of all services exist at a position.
  func isKept(at seq: UInt64, _ reader: any JournalReader) throws(JournalError) -> Bool {
    for (service, makeFold) in makeFolds {
      let snapshot = try reader.snapshot(of: service, upTo: seq)
      guard let snapshot, snapshot.seq == seq, makeFold().start(from: snapshot) else {
        return false
      }
    }
    return true
  }
}
