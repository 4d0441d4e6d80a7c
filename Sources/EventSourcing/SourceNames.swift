internal import Journal
public import Model
internal import Signals

/// An index of the durable sources of a service, by name pattern.
///
/// It holds the names of the sources (``Names/Holder/source``). At the start, large sets are indexed
/// off the loop. Until then, a search scans all names.
@usableFromInline
final class SourceNames {
  /// The maximum number of names to index synchronously.
  private static let fewNames = 4096

  private let service: String
  private let names: Names
  private var index: NameIndex? = NameIndex()

  /// The names added (`true`) and removed while the index is built.
  ///
  /// A removed one is held until then.
  private var changes: [(number: Int, isThere: Bool)] = []
  private var work: (any Disposable)?

  @usableFromInline
  init(of service: String, in names: Names) {
    (self.service, self.names) = (service, names)
  }

  deinit {
    work?.dispose()
  }

  /// Builds the index.
  ///
  /// - Parameters:
  ///   - sources: The numbers of the names of all sources.
  ///   - host: Provides the background thread.
  func start(_ sources: [Int], _ host: ServiceHost) {
    for number in sources { names.hold(number, by: .source) }
    let list = names.list
    guard sources.count > Self.fewNames else {
      index = NameIndex(sources, in: list)
      return
    }
    index = nil
    work = host.reading(.long) { _ throws(JournalError) in NameIndex(sources, in: list) }
      .observe { [weak self] event in
        if case .next(let index) = event { self?.finish(index) }
      }
  }

  private func finish(_ made: NameIndex) {
    index = made
    let changes = changes
    self.changes = []
    for change in changes { apply(change.number, isThere: change.isThere) }
  }

  private func apply(_ number: Int, isThere: Bool) {
    if isThere {
      index?.insert(number, in: names.list)
    } else {
      index?.remove(number, in: names.list)
      names.drop(number, by: .source)
    }
  }

  /// Adds or removes a source by the number of its name.
  @usableFromInline
  func update(_ number: Int, isThere: Bool) {
    if isThere { names.hold(number, by: .source) }
    if index == nil {
      changes.append((number, isThere))
    } else {
      apply(number, isThere: isThere)
    }
  }

  /// Adds or removes a source.
  @usableFromInline
  func update(_ name: String, isThere: Bool) {
    update(names.add(name), isThere: isThere)
  }

  /// Whether a search can be stopped and go on later; otherwise the index is being built.
  var canGoOn: Bool { index != nil }

  /// Calls `body` with the names that match a pattern, until it returns `false`; see
  /// ``NameIndex/search(_:without:in:from:_:)``.
  func search(
    _ pattern: Pattern, without excluded: [Pattern], from place: inout SearchPlace,
    _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) {
    if let index {
      return try index.search(
        pattern, without: excluded, in: names.list, from: &place, body)
    }
    forEach { name in
      guard pattern.matches(name), !excluded.contains(where: { $0.matches(name) }) else {
        return true
      }
      return body(name)
    }
  }

  /// Calls `body` with the names that have a prefix, until it returns `false`.
  func search(
    withPrefix prefix: String, from place: inout SearchPlace, _ body: (String) -> Bool
  ) {
    if let index {
      return index.search(withPrefix: prefix, in: names.list, from: &place, body)
    }
    forEach { !$0.utf8.starts(with: prefix.utf8) || body($0) }
  }

  /// Calls `body` with each name until it returns `false`, while there is no index.
  private func forEach(_ body: (String) -> Bool) {
    var removed: Set<Int> = []
    for (number, isThere) in changes {
      if isThere { removed.remove(number) } else { removed.insert(number) }
    }
    let (names, service) = (names, service)
    for number in 0..<names.list.count where names.isHeld(number, by: .source) {
      guard SourceName.isBelow(names[number], service.utf8.span), !removed.contains(number)
      else { continue }
      guard body(names.text(number)) else { return }
    }
  }

  /// Returns some of the names adjacent to a name in order; none while the index is built.
  func neighbours(of name: String, count: Int) -> [String] {
    index?.neighbours(of: name, count: count, in: names.list) ?? []
  }
}
