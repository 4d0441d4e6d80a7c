internal import Facts
internal import Journal
internal import Signals

/// The names of a service's durable sources, found by pattern without looking at all of them.
///
/// At the start very many names are put in order away from the loop; until that is done a search
/// looks at each.
final class SourceNames {
  /// Names that are put in order at once.
  private static let fewNames = 4096

  private var index: NameIndex? = NameIndex()

  /// What came (`true`) and went while the index is made.
  private var changes: [(name: String, isThere: Bool)] = []

  /// All names, for as long as there is no index.
  private var all: () -> AnySequence<String> = { AnySequence([]) }
  private var work: (any Disposable)?

  deinit {
    work?.dispose()
  }

  /// Begins with the names that there are.
  ///
  /// - Parameters:
  ///   - all: The names as they are whenever it is called.
  ///   - host: Lends a thread.
  func start(_ all: @escaping () -> AnySequence<String>, count: Int, _ host: ServiceHost) {
    guard count > Self.fewNames else {
      index = NameIndex(all())
      return
    }
    index = nil
    self.all = all
    let names = Array(all())
    work = host.readingStore(.long) { _ throws(JournalError) in NameIndex(names) }
      .observe { [weak self] event in
        if case .next(let index) = event { self?.finish(index) }
      }
  }

  private func finish(_ made: NameIndex) {
    var made = made
    for change in changes {
      if change.isThere { made.insert(change.name) } else { made.remove(change.name) }
    }
    (index, changes, all) = (made, [], { AnySequence([]) })
  }

  /// Notes that a name is there now, or no more.
  func note(_ name: String, isThere: Bool) {
    if index == nil {
      changes.append((name, isThere))
    } else if isThere {
      index?.insert(name)
    } else {
      index?.remove(name)
    }
  }

  /// Calls `body` with the names that a pattern means, until it returns `false`; see
  /// ``NameIndex/search(_:without:_:)``.
  func search(
    _ pattern: Pattern, without excluded: [Pattern], _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    if let index { return try index.search(pattern, without: excluded, body) }
    for name in all()
    where pattern.matches(name) && !excluded.contains(where: { $0.matches(name) }) {
      guard body(name) else { return }
    }
  }

  /// Calls `body` with the names that begin so, until it returns `false`.
  func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    if let index { return index.search(withPrefix: prefix, body) }
    for name in all() where name.utf8.starts(with: prefix.utf8) {
      guard body(name) else { return }
    }
  }

  /// Names that stand near a name in the order; some, not all.
  func neighbours(of name: String, count: Int) -> [String] {
    index?.neighbours(of: name, count: count) ?? []
  }
}
