internal import Facts
internal import Signals

/// The observers of changes, indexed by source and by pattern.
///
/// The cost of a change depends only on its observers.
final class Watchers {
  typealias Changes = PassthroughSubject<SourceChange, Never>

  private var bySource: [String: Changes] = [:]
  private let byPattern = PatternIndex<Changes>()

  var isEmpty: Bool { bySource.isEmpty && byPattern.isEmpty }

  func isWatched(_ source: String) -> Bool {
    bySource[source] != nil || byPattern.hasMatch(for: source)
  }

  func send(_ change: SourceChange) {
    bySource[change.source]?.send(change)
    guard !byPattern.isEmpty else { return }
    // Collected first, because observers may add or remove patterns.
    var changes: [Changes] = []
    byPattern.forEachMatch(for: change.source) { changes.append($0) }
    for changes in changes { changes.send(change) }
  }

  func changes(of source: String) -> Signal<SourceChange, Never> {
    Signal { [self] observer in
      let changes = bySource[source] ?? Changes()
      bySource[source] = changes
      let observation = changes.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        if !changes.hasObservers { bySource[source] = nil }
      }
    }
  }

  func changes(matching pattern: Pattern) -> Signal<SourceChange, Never> {
    guard !pattern.isLiteral else { return changes(of: pattern.text) }
    return Signal { [self] observer in
      let changes = byPattern[pattern] ?? Changes()
      byPattern[pattern] = changes
      let observation = changes.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        if !changes.hasObservers { byPattern[pattern] = nil }
      }
    }
  }
}
