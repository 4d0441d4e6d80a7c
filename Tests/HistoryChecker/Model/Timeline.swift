internal import JSON

/// The value of each source at each position of a history.
struct Timeline {
  /// A change of a source, and the value after it.
  struct Change {
    let seq: Int
    let version: Int
    let value: Value
  }

  /// The position before which nothing is known.
  let start: Int

  /// The last position of the journal.
  let end: Int

  private let base: State
  private var changes: [String: [Change]] = [:]

  /// - Parameter end: The last position of the journal, even if not all of it is known.
  init(from base: State, end: Int) {
    self.base = base
    start = base.seq
    self.end = end
  }

  /// Records the value of a stream after an event.
  mutating func note(_ event: Event, _ state: State) {
    changes[event.stream, default: []].append(
      Change(seq: event.seq, version: event.version, value: state[event.stream]))
  }

  /// All sources that ever had a value.
  var sources: Set<String> { Set(changes.keys).union(base.sources) }

  /// Returns the value of a source at a position; `nil` if it is unknown.
  func value(of source: String, at seq: Int) -> Value? {
    guard seq >= start else { return nil }
    let all = all(source)
    let count = all.count(upTo: seq)
    return count > 0 ? all[count - 1].value : base[source]
  }

  /// Returns the changes of a source between two positions; `nil` if not all are known.
  func changes(of source: String, after: Int, upTo: Int) -> [Change]? {
    guard after >= start else { return nil }
    let all = all(source)
    let first = all.count(upTo: after)
    return Array(all[first..<max(first, all.count(upTo: upTo))])
  }

  /// Returns the state of some sources after a position, then after each of their changes.
  func states(of sources: [String], after seq: Int) -> [State] {
    let seq = max(seq, start)
    var moments = Set([seq])
    for source in sources { moments.formUnion(all(source).lazy.map(\.seq).filter { $0 > seq }) }
    return moments.sorted().map { moment in
      var values: [String: Value] = [:]
      var versions: [String: Int] = [:]
      for source in sources {
        let last = all(source).last { $0.seq <= moment }
        values[source] = last?.value ?? base[source]
        versions[source] = last?.version ?? base.version(of: source)
      }
      return State(seq: moment, values: values, versions: versions)
    }
  }

  private func all(_ source: String) -> [Change] { changes[source] ?? [] }
}

extension [Timeline.Change] {
  /// Returns the number of changes up to a position.
  fileprivate func count(upTo seq: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
