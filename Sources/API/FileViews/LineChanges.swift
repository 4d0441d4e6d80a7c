internal import Connections
internal import Model
internal import Signals

/// The changes of one source, passed on to all lines of views that show something of it.
///
/// A few lines get each change at once. Many get the changes in the time of the user who opened the
/// first of their views, one line in a step, so that a commit notes each change once.
final class LineChanges: SlicedWork {
  /// The most lines that get a change at once.
  private static let atOnce = 8

  /// The most changes that wait; a line that has missed one reads the newest value.
  private static let mostWaiting = 64

  private final class Line {
    let receive: (SourceChange) -> Void

    /// The number of the next change.
    var next: Int

    /// The index among the lines.
    var place: Int

    init(_ receive: @escaping (SourceChange) -> Void, next: Int, place: Int) {
      (self.receive, self.next, self.place) = (receive, next, place)
    }
  }

  var isQueued = false
  private let changes: Signal<SourceChange, Never>
  private let user: UInt32
  private let context: ConnectionContext
  private let onEnd: () -> Void
  private var observation: (any Disposable)?
  private var lines: [Line] = []

  /// The changes that not all lines have got, and the number of the first.
  private var waiting: [SourceChange] = []
  private var first = 0

  /// The line that is next, and the number of lines before it that have all changes.
  private var (cursor, doneCount) = (0, 0)

  /// - Parameters:
  ///   - user: The user in whose time many lines get the changes.
  ///   - onEnd: Called when no line needs it any more.
  init(
    _ changes: Signal<SourceChange, Never>, for user: UInt32, in context: ConnectionContext,
    onEnd: @escaping () -> Void
  ) {
    (self.changes, self.user, self.context, self.onEnd) = (changes, user, context, onEnd)
  }

  deinit { onEnd() }

  /// The changes for one more line.
  var signal: SafeSignal<SourceChange> {
    Signal { [self] observer in
      let line = Line({ observer.receive($0) }, next: end, place: lines.count)
      lines.append(line)
      doneCount = 0
      if lines.count == 1 {
        observation = changes.observeNext { [unowned self] in receive($0) }
      }
      return BlockDisposable { [self] in remove(line) }
    }
  }

  private var end: Int { first + waiting.count }

  private func remove(_ line: Line) {
    guard lines.indices ~= line.place, lines[line.place] === line else { return }
    lines.swapAt(line.place, lines.count - 1)
    lines[line.place].place = line.place
    lines.removeLast()
    doneCount = 0
    if lines.isEmpty {
      observation?.dispose()
      observation = nil
      clear()
    }
  }

  private func receive(_ change: SourceChange) {
    guard lines.count > Self.atOnce || !waiting.isEmpty else {
      for line in lines { line.receive(change) }
      return
    }
    if waiting.count == Self.mostWaiting {
      waiting.removeFirst()
      first += 1
    }
    waiting.append(change)
    doneCount = 0
    context.add(self, for: user)
  }

  /// Passes the changes on to the next line.
  func step() -> Bool {
    guard !lines.isEmpty, !waiting.isEmpty else { return false }
    let line = lines[cursor % lines.count]
    cursor = (cursor + 1) % lines.count
    doneCount += 1
    let next = line.next
    line.next = end
    if next < first, let last = waiting.last {
      line.receive(SourceChange(source: last.source, seq: last.seq, value: nil))
    } else {
      for change in waiting[(next - first)...] { line.receive(change) }
    }
    if doneCount >= lines.count, !waiting.isEmpty { clear() }
    return !waiting.isEmpty
  }

  private func clear() {
    first = end
    (waiting, cursor, doneCount) = ([], 0, 0)
  }
}

extension FileViewRegistry {
  /// Returns the changes of a source for the lines of views, shared while one of them needs them.
  ///
  /// - Parameter key: The source, and the rights.
  func changes(
    _ key: String, _ make: (_ onEnd: @escaping () -> Void) -> LineChanges
  ) -> LineChanges {
    let key = "changes \(key)"
    if let changes = object(key) as? LineChanges { return changes }
    let changes = make { [weak self] in self?.remove(key) }
    share(changes, as: key)
    return changes
  }
}
