internal import Signals

/// Who watches which sources: a change costs what its watchers cost, however many sources there are.
final class Watchers {
  typealias Changes = PassthroughSubject<SourceChange, Never>

  private var bySource: [String: Changes] = [:]
  private var byPattern: [(id: Int, isWanted: (String) -> Bool, changes: Changes)] = []
  private var lastID = 0

  var isEmpty: Bool { bySource.isEmpty && byPattern.isEmpty }

  func isWatched(_ source: String) -> Bool {
    bySource[source] != nil || byPattern.contains { $0.isWanted(source) }
  }

  func send(_ change: SourceChange) {
    bySource[change.source]?.send(change)
    for watcher in byPattern where watcher.isWanted(change.source) { watcher.changes.send(change) }
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

  func changes(where isWanted: @escaping (String) -> Bool) -> Signal<SourceChange, Never> {
    Signal { [self] observer in
      lastID += 1
      let id = lastID
      let changes = Changes()
      byPattern.append((id, isWanted, changes))
      let observation = changes.observe(with: observer.on)
      return BlockDisposable { [self] in
        observation.dispose()
        byPattern.removeAll { $0.id == id }
      }
    }
  }
}
