internal import JSON

/// Removes entries that a violation does not need, as long as the violation stays exactly the same.
struct Shrinker {
  private var history: History
  private let violation: Violation

  /// The number of histories that may still be tried.
  private var patience = 3_000

  init(_ history: History, _ violation: Violation) {
    self.history = history
    self.violation = violation
  }

  mutating func smallest() -> History {
    var part = history
    part.end = history.end
    part.isPart = true
    guard breaks(part) else { return surroundings }
    history = part
    leaveOutSources()
    leaveOutTheBeginning()
    leaveOutGroups { $0.client }
    leaveOutGroups { Unit.key($0) }
    leaveOutLines()
    return history
  }

  private mutating func breaks(_ history: History) -> Bool {
    patience -= 1
    do throws(Violation) {
      _ = try HistoryChecker.check(history)
      return false
    } catch {
      return error == violation
    }
  }

  /// The events around a fault of the journal itself.
  private var surroundings: History {
    var part = History()
    let words = violation.message.split { !$0.isNumber }.compactMap { Int($0) }
    part.journal = history.journal.filter { event in words.contains { abs($0 - event.seq) <= 1 } }
    return part
  }

  // MARK: Reductions

  private mutating func leaveOutSources() {
    let sources = Set(history.journal.map(\.stream)).union(history.past.state.sources).sorted()
    reduce(sources) { history, kept in
      let kept = Set(kept)
      history.past.state = history.past.state.only(kept.contains)
      history.journal.removeAll { !kept.contains($0.stream) }
      history.entries.removeAll { Unit.source($0).map { !kept.contains($0) } ?? false }
    }
  }

  /// Begins the history later, with a state in place of the earlier events.
  private mutating func leaveOutTheBeginning() {
    var (low, high) = (0, history.journal.count)
    while low < high, patience > 0 {
      let middle = (low + high + 1) / 2
      var part = history
      part.beginBehind(middle)
      if breaks(part) { low = middle } else { high = middle - 1 }
    }
    var part = history
    part.beginBehind(low)
    if breaks(part) { history = part }
  }

  private mutating func leaveOutGroups(_ key: @escaping (Entry) -> String) {
    var order: [String] = []
    var known: Set<String> = []
    for entry in history.entries where known.insert(key(entry)).inserted {
      order.append(key(entry))
    }
    reduce(order) { history, kept in
      let kept = Set(kept)
      history.entries.removeAll { !kept.contains(key($0)) }
      history.exemptWithoutCall()
    }
  }

  private mutating func leaveOutLines() {
    reduce(Array(history.entries.indices)) { history, kept in
      history.entries = kept.map { history.entries[$0] }
      history.exemptWithoutCall()
    }
    reduce(Array(history.journal.indices)) { history, kept in
      history.journal = kept.map { history.journal[$0] }
    }
  }

  /// Keeps as few items as the violation allows; tries large omissions first.
  private mutating func reduce<Item>(_ items: [Item], _ keep: (inout History, [Item]) -> Void) {
    let whole = history
    var items = items
    var size = max(1, items.count / 2)
    while patience > 0, !items.isEmpty {
      var start = 0
      var isSmaller = false
      while start < items.count, patience > 0 {
        var fewer = items
        fewer.removeSubrange(start..<min(start + size, items.count))
        var part = whole
        keep(&part, fewer)
        if breaks(part) {
          (items, history, isSmaller) = (fewer, part, true)
        } else {
          start += size
        }
      }
      if size == 1, !isSmaller { break }
      size = max(1, size / 2)
    }
  }
}

/// The grouping of entries that belong together.
private enum Unit {
  /// Returns the request or subscription of an entry.
  static func key(_ entry: Entry) -> String {
    switch entry.what {
    case .sent(let request):
      if let sub = request.call.params["sub"] { return "\(entry.client) \(sub)" }
      return "\(entry.client) \(request.command ?? request.id ?? "-")"
    case .answered(let answer):
      if let sub = answer.result?["sub"] { return "\(entry.client) \(sub)" }
      return "\(entry.client) \(answer.id)"
    case .told(let notice): return "\(entry.client) \(notice.sub)"
    case .lost: return "\(entry.client) !"
    case .other: return "other"
    }
  }

  /// Returns the source of an entry, if it has one.
  static func source(_ entry: Entry) -> String? {
    switch entry.what {
    case .sent(let request):
      guard request.call.method != "subscribe" else { return nil }
      let source = request.call.source
      return source.contains("*") || request.call.parts.count > 1 ? nil : source
    case .told(let notice):
      return notice.params["event"]?.members?["stream"]?.string
        ?? notice.params["source"]?.string
    default: return nil
    }
  }
}

extension History {
  /// Moves the first events into the past.
  fileprivate mutating func beginBehind(_ count: Int) {
    for event in journal.prefix(count) {
      _ = past.state.apply(event)
    }
    journal.removeFirst(count)
  }

  /// Exempts events whose calls are not in this history.
  fileprivate mutating func exemptWithoutCall() {
    var sent = Set(past.commands.keys)
    for entry in entries {
      if case .sent(let request) = entry.what, let command = request.command {
        sent.insert(command)
      }
    }
    exempt.formUnion(journal.lazy.filter { !sent.contains($0.command ?? "") }.map(\.seq))
  }
}
