internal import Facts
internal import Journal
internal import Signals

/// An index of the durable sources of a service, by name pattern.
///
/// At the start, large sets are indexed off the loop. Until then, a search scans all names.
@usableFromInline
final class SourceNames {
  /// The maximum number of names to index synchronously.
  private static let fewNames = 4096

  private var index: NameIndex? = NameIndex()

  /// The names added (`true`) and removed while the index is built.
  private var changes: [(name: String, isThere: Bool)] = []

  /// Returns all names; used until the index is built.
  private var all: () -> AnySequence<String> = { AnySequence([]) }
  private var work: (any Disposable)?

  @usableFromInline
  init() {}

  deinit {
    work?.dispose()
  }

  /// Builds the index.
  ///
  /// - Parameters:
  ///   - all: Returns the current names.
  ///   - count: The approximate number of names.
  ///   - host: Provides the background thread.
  func start(_ all: @escaping () -> AnySequence<String>, count: Int, _ host: ServiceHost) {
    guard count > Self.fewNames else {
      index = NameIndex(all())
      return
    }
    index = nil
    self.all = all
    let names = Array(all())
    work = host.reading(.long) { _ throws(JournalError) in NameIndex(names) }
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

  /// Adds or removes a name.
  @usableFromInline
  func note(_ name: String, isThere: Bool) {
    if index == nil {
      changes.append((name, isThere))
    } else if isThere {
      index?.insert(name)
    } else {
      index?.remove(name)
    }
  }

  /// Calls `body` with the names that match a pattern, until it returns `false`; see
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

  /// Calls `body` with the names that have a prefix, until it returns `false`.
  func search(withPrefix prefix: String, _ body: (String) -> Bool) {
    if let index { return index.search(withPrefix: prefix, body) }
    for name in all() where name.utf8.starts(with: prefix.utf8) {
      guard body(name) else { return }
    }
  }

  /// Returns some of the names adjacent to a name in order; none while the index is built.
  func neighbours(of name: String, count: Int) -> [String] {
    index?.neighbours(of: name, count: count) ?? []
  }
}
