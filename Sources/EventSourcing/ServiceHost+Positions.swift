package import Facts
internal import Journal

extension ServiceHost {
  /// The number of events to examine in a stream for the last one that changed a source.
  private static let maxSteps = 20_000

  /// Returns the position of the last durable change of each source; 0 if there is none.
  ///
  /// Reads the journal synchronously, so use it only at the start. If the event was removed, or is
  /// too many events ago, its position is not known: the range has the positions that it may have.
  package func lastChanges(
    of sources: Set<String>
  ) throws(JournalError) -> [String: ClosedRange<UInt64>] {
    let streams = streams(for: sources)
    return try readNow { reader throws(JournalError) in
      var positions: [String: ClosedRange<UInt64>] = [:]
      for source in sources {
        var (first, last): (UInt64, UInt64) = (0, 0)
        if let fold = ledger(source.firstSegment)?.makeFold() {
          for stream in streams[source] ?? [] {
            let change = try reader.lastChange(
              of: source, by: fold, in: stream, from: head(of: stream).seq, after: first,
              steps: Self.maxSteps)
            (first, last) = (max(first, change.lowerBound), max(last, change.upperBound))
          }
        }
        positions[source] = first...last
      }
      return positions
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
    heads.forEach { stream, _ in
      guard services.contains(stream.firstSegment) else { return }
      for prefix in stream.prefixes.dropFirst() where sources.contains(prefix) {
        found[prefix, default: []].append(stream)
      }
    }
    return found
  }
}

extension JournalReader {
  /// Returns the position of the last event of a stream that changed a source, or 0 if there is
  /// none.
  ///
  /// - Parameters:
  ///   - head: The last event of the stream.
  ///   - seq: Events up to this position are not examined.
  ///   - steps: The number of events to examine. Beyond it the position is not known.
  /// - Returns: The positions that the event may have: one if it is known.
  fileprivate func lastChange(
    of source: String, by fold: any Fold, in stream: String, from head: UInt64,
    after seq: UInt64, steps: Int
  ) throws(JournalError) -> ClosedRange<UInt64> {
    var (next, left) = (head, steps)
    while next > seq {
      let records = try records(ofStream: stream, from: next, limit: 64)
      guard let oldest = records.last, left > 0 else { return 0...next }
      for record in records where record.seq > seq {
        if fold.sources(changedBy: record).contains(source) { return record.seq...record.seq }
      }
      left -= records.count
      next = oldest.previous
    }
    return 0...0
  }
}

extension String {
  /// The first segment of a path.
  fileprivate var firstSegment: String { String(prefix { $0 != "/" }) }

  /// The path and its parent paths, the longest first.
  fileprivate var prefixes: [String] {
    var prefixes = [self]
    for (index, character) in zip(indices, self).reversed() where character == "/" {
      prefixes.append(String(self[..<index]))
    }
    return prefixes
  }
}
