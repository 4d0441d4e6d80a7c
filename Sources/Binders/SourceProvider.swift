internal import Facts
package import JSON
internal import Services
internal import Signals
internal import Wire

/// The sources of one service, as they are offered.
package final class SourceProvider {
  /// One source, or all of a pattern.
  package struct Description {
    /// The whole name or pattern, for example `"cells/**"`.
    let name: String
    let doc: String
    let shape: Shape
    let kind: SourceKind
    let isWritable: Bool

    package init(
      _ name: String, _ doc: String, _ shape: Shape, kind: SourceKind = .state,
      isWritable: Bool = false
    ) {
      self.name = name
      self.doc = doc
      self.shape = shape
      self.kind = kind
      self.isWritable = isWritable
    }
  }

  let descriptions: [Description]

  /// The kind of all of them, when they are of one: then no name is looked for.
  private let commonKind: SourceKind?

  /// Whether the changes are events in the journal, but for those of what is loaded.
  let isJournaled: Bool

  /// Whether a source can be watched, even if it has no value now.
  let exists: (_ source: String) -> Bool

  /// Whether a source is there that the role may not read.
  let hides: (_ source: String) -> Bool

  /// The value now; `nil` when there is none.
  let value: (_ source: String) -> JSONText?

  /// The value with all that was decided and is not durable yet; `nil` when there is none.
  let newest: (_ source: String) -> JSONText?

  /// What a list or a map holds; `nil` for all other sources.
  let collection: (_ source: String) -> SourceCollection?

  /// Calls `body` with the names of sources that have a value now and that a pattern means, those of
  /// some patterns passed over, until it returns `false`.
  let search: Search
  typealias Search = (
    _ pattern: Pattern, _ excluded: [Pattern], _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) -> Void

  /// Names that stand near one that is not there.
  let neighbours: (_ source: String) -> [String]

  /// How many names before and behind one that is not there are looked at.
  static let neighbourCount = 500

  /// Every change from now on of one source, or of all that a pattern means.
  let changes: (_ source: String) -> Signal<SourceChange, Never>
  let changesMatching: (Pattern) -> Signal<SourceChange, Never>

  init(
    descriptions: [Description], isJournaled: Bool, exists: @escaping (String) -> Bool,
    value: @escaping (String) -> JSONText?, newest: ((String) -> JSONText?)? = nil,
    collection: @escaping (String) -> SourceCollection? = { _ in nil },
    search: @escaping Search, neighbours: @escaping (String) -> [String],
    changes: @escaping (String) -> Signal<SourceChange, Never>,
    changesMatching: @escaping (Pattern) -> Signal<SourceChange, Never>,
    hides: @escaping (String) -> Bool = { _ in false }
  ) {
    self.descriptions = descriptions
    let kinds = Set(descriptions.map(\.kind))
    commonKind = kinds.count == 1 ? kinds.first : nil
    self.isJournaled = isJournaled
    self.exists = exists
    self.value = value
    self.newest = newest ?? value
    self.collection = collection
    self.search = search
    self.neighbours = neighbours
    self.changes = changes
    self.changesMatching = changesMatching
    self.hides = hides
  }

  /// The kind of one of the sources.
  func kind(of source: String) -> SourceKind {
    commonKind ?? description(of: source)?.kind ?? .state
  }

  /// Whether the changes of one of the sources are events in the journal.
  func isJournaled(_ source: String) -> Bool {
    isJournaled && (commonKind != nil || kind(of: source) != .loading)
  }

  /// Whether the changes of all sources that a pattern may mean are events in the journal.
  func isJournaled(_ pattern: Pattern) -> Bool {
    isJournaled
      && (commonKind != nil
        || !descriptions.contains { description in
          description.kind == .loading && Pattern(description.name)?.overlaps(pattern) != false
        })
  }

  /// These sources, and beside them others that are loaded.
  func beside(_ loading: LoadingSources) -> SourceProvider {
    SourceProvider(
      descriptions: descriptions + [loading.description], isJournaled: isJournaled,
      exists: { [exists] in loading.exists($0) || exists($0) },
      value: { [value] in loading.value($0) ?? value($0) },
      newest: { [newest] in loading.value($0) ?? newest($0) },
      collection: collection,
      search: { [search] pattern, excluded, body throws(NameIndex.TooVain) in
        guard loading.names().search(pattern, excluded, body) else { return }
        try search(pattern, excluded, body)
      },
      neighbours: { [neighbours] source in loading.names() + neighbours(source) },
      changes: { [changes] in loading.exists($0) ? loading.changes($0) : changes($0) },
      changesMatching: { [changesMatching] pattern in
        loading.changesWhere(pattern.matches).merge(with: changesMatching(pattern))
      })
  }
}

extension Sequence<String> {
  /// Calls `body` with those that a pattern means, until it returns `false`.
  ///
  /// - Returns: Whether it never did.
  func search(_ pattern: Pattern, _ excluded: [Pattern], _ body: (String) -> Bool) -> Bool {
    for name in self
    where pattern.matches(name) && !excluded.contains(where: { $0.matches(name) }) {
      guard body(name) else { return false }
    }
    return true
  }
}
