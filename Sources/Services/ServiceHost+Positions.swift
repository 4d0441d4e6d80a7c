internal import Journal

extension ServiceHost {
  /// How many events of a stream are looked at for one that has changed a source.
  private static let maxSteps = 20_000

  /// Where each of some sources was changed last, as far as it is durable: the position of the event,
  /// 0 where there is none.
  ///
  /// It reads the journal while the caller waits: for the start. Where the event itself was removed,
  /// the position is that of the last one by which it may have been changed.
  package func lastChanges(
    of sources: Set<String>
  ) throws(JournalFault) -> [String: UInt64] {
    let streams = streams(for: sources)
    do throws(JournalError) {
      return try readNow { reader throws(JournalError) in
        var positions: [String: UInt64] = [:]
        for source in sources {
          var position: UInt64 = 0
          if let fold = ledger(source.firstSegment)?.makeFold() {
            for stream in streams[source] ?? [] {
              position = max(
                position,
                try reader.lastChange(
                  of: source, by: fold, in: stream, from: head(of: stream).seq, after: position,
                  steps: Self.maxSteps))
            }
          }
          positions[source] = position
        }
        return positions
      }
    } catch {
      throw JournalFault(error)
    }
  }

  /// The streams whose events may change each source: those that are called as it, as what it is a
  /// part of, and as its parts.
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
  /// The last event of a stream that may have changed a source.
  ///
  /// - Parameters:
  ///   - head: The last event of the stream.
  ///   - seq: Nothing up to here is looked at.
  fileprivate func lastChange(
    of source: String, by fold: any Fold, in stream: String, from head: UInt64,
    after seq: UInt64, steps: Int
  ) throws(JournalError) -> UInt64 {
    var (next, left) = (head, steps)
    while next > seq {
      let records = try records(ofStream: stream, from: next, limit: 64)
      guard let oldest = records.last, left > 0 else { return next }
      for record in records where record.seq > seq {
        if fold.sources(changedBy: record).contains(source) { return record.seq }
      }
      left -= records.count
      next = oldest.previous
    }
    return 0
  }
}

extension String {
  /// The first segment of a path.
  fileprivate var firstSegment: String { String(prefix { $0 != "/" }) }

  /// A path and what it is a part of, the longest first.
  fileprivate var prefixes: [String] {
    var prefixes = [self]
    for (index, character) in zip(indices, self).reversed() where character == "/" {
      prefixes.append(String(self[..<index]))
    }
    return prefixes
  }
}
