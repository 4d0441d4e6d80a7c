package import EventSourcing
internal import JSON
internal import Model
package import Signals
internal import Wire

/// A source that was silent for longer than its type says.
package struct SilentSource: Codable, Equatable {
  package let source: String
  package let title: String?

  /// The time of its last value: RFC 3339, UTC; `nil` if it was not heard since the daemon started.
  package let since: String?

  /// The seconds after which it counts as silent.
  package let silence: Int64

  private enum CodingKeys: String, CodingKey {
    case source, title, since
    case silence = "silent_s"
  }
}

/// Finds the sources that are silent.
///
/// The types of a pattern are of the sources that have a value; a type of one source is of that one,
/// also before its first value.
package final class SilenceWatch {
  /// The most sources that are watched.
  static let maxCount = 1000

  /// The longest time in seconds between two looks at the clock, which may be set.
  private static let longest: Double = 60

  /// A source that is watched.
  private struct Watched {
    /// The time of the last value in microseconds since 1970.
    var time: Int64

    /// Whether it was heard at all.
    var isHeard: Bool
  }

  /// The silent sources, by name.
  let silent = Property<[SilentSource]>([])

  private let host: ServiceHost
  private let scheduler: any Scheduler
  private var watched: [String: Watched] = [:]
  private var timer: (any Disposable)?
  private var isActive = false

  /// Returns the sources of a pattern that have a value, some more than the given number at most.
  private var names: (_ pattern: Pattern, _ most: Int) -> Set<String> = { _, _ in [] }

  /// Emits the changes of the sources of a pattern.
  private var changes: (_ pattern: Pattern) -> Signal<SourceChange, Never> = { _ in .never() }
  private let observations = SerialDisposable(otherDisposable: nil)
  private let bag = DisposeBag()

  package init(in host: ServiceHost, on scheduler: any Scheduler) {
    (self.host, self.scheduler) = (host, scheduler)
  }

  /// Follows the types; the sources are those of the catalogue.
  func follow(
    names: @escaping (_ pattern: Pattern, _ most: Int) -> Set<String>,
    changes: @escaping (_ pattern: Pattern) -> Signal<SourceChange, Never>
  ) {
    (self.names, self.changes) = (names, changes)
    host.typesChanged.observeNext { [unowned self] in
      if isActive { refresh() }
    }.dispose(in: bag)
  }

  /// Begins to watch; the times of the last values are those of the journal.
  package func begin() {
    isActive = true
    refresh()
  }

  package func stop() {
    isActive = false
    timer?.dispose()
    observations.dispose()
    bag.dispose()
  }

  /// Watches the sources of the present types.
  private func refresh() {
    let types = host.types.all.filter { $0.type.silence != nil }
    let isFirst = watched.isEmpty
    let bag = DisposeBag()
    var names: Set<String> = []
    for declared in types {
      if declared.pattern.isLiteral, !declared.pattern.text.isKeyOfMap {
        names.insert(declared.pattern.text)
      } else {
        names.formUnion(self.names(declared.pattern, Self.maxCount))
      }
      changes(declared.pattern).observeNext { [unowned self] in hear($0) }.dispose(in: bag)
    }
    observations.otherDisposable = bag
    names = names.filter { host.types.type(of: $0)?.type.silence != nil }
    let new = names.subtracting(watched.keys)
    watched = watched.filter { names.contains($0.key) }
    // Only at the start: it reads the journal on the loop.
    let known = isFirst && !new.isEmpty ? (try? host.lastChanges(of: new)) ?? [:] : [:]
    for name in new.sorted().prefix(Self.maxCount - watched.count) {
      let time = known[name]?.time
      watched[name] = Watched(time: time ?? host.now, isHeard: time != nil)
    }
    check()
  }

  private func hear(_ change: SourceChange) {
    let source = change.source
    guard let declared = host.types.type(of: source), declared.type.silence != nil else { return }
    guard change.value != nil || declared.pattern.isLiteral else {
      watched[source] = nil
      if silent.value.contains(where: { $0.source == source }) { check() }
      return
    }
    guard change.value != nil else { return }
    guard let known = watched[source] else {
      guard watched.count < Self.maxCount else { return }
      watched[source] = Watched(time: host.now, isHeard: true)
      return check()
    }
    watched[source] = Watched(time: host.now, isHeard: true)
    // The first value, or one after a silence.
    if !known.isHeard || silent.value.contains(where: { $0.source == source }) { check() }
  }

  /// Finds the silent sources, and when the next one may be.
  private func check() {
    timer?.dispose()
    timer = nil
    let now = host.now
    var found: [SilentSource] = []
    var next: Double?
    for (source, watched) in watched.sorted(by: { $0.key < $1.key }) {
      guard let type = host.types.type(of: source)?.type, let silence = type.silence else {
        continue
      }
      // A clock that was set back: the source was heard now.
      if watched.time > now { self.watched[source]?.time = now }
      let left = Double(min(watched.time, now) + silence * 1_000_000 - now) / 1_000_000
      if left > 0 {
        next = min(next ?? left, left)
      } else {
        found.append(
          SilentSource(
            source: source, title: type.title,
            since: watched.isHeard ? Timestamp(microseconds: watched.time).text : nil,
            silence: silence))
      }
    }
    if found != silent.value { silent.value = found }
    if let next { plan(after: next) }
  }

  private func plan(after seconds: Double) {
    guard isActive, timer == nil else { return }
    timer = scheduler.schedule(after: min(max(seconds, 0.001), Self.longest)) { [weak self] in
      self?.check()
    }
  }
}
