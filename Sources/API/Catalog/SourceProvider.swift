package import EventSourcing
package import JSON
package import Model
package import Signals
internal import Wire

/// The sources of one service.
package final class SourceProvider {
  /// The description of one source, or of all sources of a pattern.
  package struct Description {
    /// The full name or pattern, for example `"cells/**"`.
    package let name: String
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

  /// The kind of all sources if they have the same; avoids a look-up by name.
  private let commonKind: SourceKind?

  /// Whether changes are events in the journal, except those of loaded sources.
  let isJournaled: Bool

  /// Whether clients can subscribe to a source, even if it has no value now.
  package let exists: (_ source: String) -> Bool

  /// The names of the sources beside the journaled ones that are not journaled.
  private let unjournaled: Set<String>

  /// Whether a source exists that the role may not read.
  package let hides: (_ source: String) -> Bool

  /// Returns the durable value; `nil` if there is none.
  package let value: (_ source: String) -> JSONText?

  /// The sources by number; `nil` if they are found by name only.
  let numbered: NumberedSources?

  /// Returns figures of the moment beside the durable value, for `get`; `nil` if there are none.
  let now: (_ source: String) -> JSONText?

  /// Returns the value including changes that are not durable yet; `nil` if there is none.
  package let newest: (_ source: String) -> JSONText?

  /// Returns the elements of a list or map; `nil` for other sources.
  package let collection: (_ source: String) -> SourceCollection?

  /// Calls `body` with the name of each source that has a value and matches the pattern but no
  /// excluded pattern, until `body` returns `false`.
  package let search: Search
  package typealias Search = (
    _ pattern: Pattern, _ excluded: [Pattern], _ place: inout SearchPlace,
    _ body: (String) -> Bool
  ) throws(NameIndex.TooVain) -> Void

  /// Whether a search that was stopped can go on at its place later.
  let canSearchGoOn: () -> Bool

  /// Returns existing names near a missing one in the sort order, for suggestions.
  let neighbours: (_ source: String) -> [String]

  /// The number of names examined before and after a missing one.
  package static let neighbourCount = 500

  /// Emits every change of one source, or of all sources of a pattern, from now on.
  package let changes: (_ source: String) -> Signal<SourceChange, Never>
  package let changesMatching: (Pattern) -> Signal<SourceChange, Never>

  /// The changes of the sources of a pattern, for observers that collect them.
  let collected: Collected

  /// The changes that an observer collects in its own time, and the others, which arrive at once.
  package struct Collected {
    let feeds: (Pattern) -> [any ChangeFeed]
    let others: (Pattern) -> Signal<SourceChange, Never>
  }

  package init(
    descriptions: [Description], isJournaled: Bool, exists: @escaping (String) -> Bool,
    value: @escaping (String) -> JSONText?,
    numbered: NumberedSources? = nil, now: @escaping (String) -> JSONText? = { _ in nil },
    newest: ((String) -> JSONText?)? = nil,
    collection: @escaping (String) -> SourceCollection? = { _ in nil },
    search: @escaping Search, canSearchGoOn: @escaping () -> Bool = { false },
    neighbours: @escaping (String) -> [String],
    changes: @escaping (String) -> Signal<SourceChange, Never>,
    changesMatching: @escaping (Pattern) -> Signal<SourceChange, Never>,
    collected: Collected? = nil,
    hides: @escaping (String) -> Bool = { _ in false }, unjournaled: Set<String> = []
  ) {
    self.descriptions = descriptions
    let kinds = Set(descriptions.map(\.kind))
    commonKind = kinds.count == 1 ? kinds.first : nil
    self.isJournaled = isJournaled
    self.exists = exists
    self.value = value
    self.numbered = numbered
    self.now = now
    self.newest = newest ?? value
    self.collection = collection
    self.search = search
    self.canSearchGoOn = canSearchGoOn
    self.neighbours = neighbours
    self.changes = changes
    self.changesMatching = changesMatching
    self.collected = collected ?? Collected(feeds: { _ in [] }, others: changesMatching)
    self.hides = hides
    self.unjournaled = unjournaled
  }

  /// Whether some sources may be lists or maps.
  var hasCollections: Bool { commonKind != .state && commonKind != .loading }

  /// Returns the kind of a source.
  func kind(of source: String) -> SourceKind {
    commonKind ?? description(of: source)?.kind ?? .state
  }

  /// The value of a source without elements; `nil` if such a source has no value.
  package func emptyValue(of source: String) -> JSONText? {
    switch kind(of: source) {
    case .list: JSONText(elements: [])
    case .map: JSONText(members: [:])
    case .state, .loading: nil
    }
  }

  /// Whether the changes of a source are events in the journal.
  package func isJournaled(_ source: String) -> Bool {
    isJournaled && (commonKind != nil || kind(of: source) != .loading)
      && !unjournaled.contains(source)
  }

  /// Whether the changes of all sources that a pattern may match are events in the journal.
  func isJournaled(_ pattern: Pattern) -> Bool {
    isJournaled && !unjournaled.contains(where: pattern.matches)
      && (commonKind != nil
        || !descriptions.contains { description in
          description.kind == .loading && Pattern(description.name)?.overlaps(pattern) != false
        })
  }

  /// Returns these sources, which are journaled, together with some that are not.
  func beside(_ others: SourceProvider) -> SourceProvider {
    let names = Set(others.descriptions.map(\.name))
    return SourceProvider(
      // The first description of a name is the one of the source.
      descriptions: others.descriptions + descriptions, isJournaled: isJournaled,
      exists: { [exists] in names.contains($0) || exists($0) },
      value: { [value] in names.contains($0) ? others.value($0) : value($0) },
      newest: { [newest] in names.contains($0) ? others.newest($0) : newest($0) },
      collection: { [collection] in names.contains($0) ? nil : collection($0) },
      search: { [search] pattern, excluded, place, body throws(NameIndex.TooVain) in
        guard names.sorted().search(pattern, excluded, body) else { return }
        try search(pattern, excluded, &place, body)
      },
      neighbours: { [neighbours] source in names.sorted() + neighbours(source) },
      changes: { [changes] in names.contains($0) ? others.changes($0) : changes($0) },
      changesMatching: { [changesMatching] pattern in
        others.changesMatching(pattern).merge(with: changesMatching(pattern))
      }, collected: collected.beside(others.changesMatching), hides: hides, unjournaled: names)
  }

  /// Whether the changes of the sources of a description are events in the journal.
  func isJournaled(_ description: Description) -> Bool {
    isJournaled && description.kind != .loading && !unjournaled.contains(description.name)
  }

  /// Returns these sources together with loaded ones.
  func beside(_ loading: LoadingSources) -> SourceProvider {
    SourceProvider(
      descriptions: descriptions + [loading.description], isJournaled: isJournaled,
      exists: { [exists] in loading.exists($0) || exists($0) },
      value: { [value] in loading.value($0) ?? value($0) },
      newest: { [newest] in loading.value($0) ?? newest($0) },
      collection: collection,
      search: { [search] pattern, excluded, place, body throws(NameIndex.TooVain) in
        guard loading.names().search(pattern, excluded, body) else { return }
        try search(pattern, excluded, &place, body)
      },
      neighbours: { [neighbours] source in loading.names() + neighbours(source) },
      changes: { [changes] in loading.exists($0) ? loading.changes($0) : changes($0) },
      changesMatching: { [changesMatching] pattern in
        loading.changesWhere(pattern.matches).merge(with: changesMatching(pattern))
      }, collected: collected.beside { loading.changesWhere($0.matches) })
  }
}

extension SourceProvider.Collected {
  /// Returns these changes together with others that arrive at once.
  fileprivate func beside(
    _ more: @escaping (Pattern) -> Signal<SourceChange, Never>
  ) -> SourceProvider.Collected {
    SourceProvider.Collected(
      feeds: feeds, others: { [others] in more($0).merge(with: others($0)) })
  }
}

extension Sequence<String> {
  /// Calls `body` with the matching names until it returns `false`.
  ///
  /// - Returns: Whether `body` always returned `true`.
  func search(_ pattern: Pattern, _ excluded: [Pattern], _ body: (String) -> Bool) -> Bool {
    for name in self
    where pattern.matches(name) && !excluded.contains(where: { $0.matches(name) }) {
      guard body(name) else { return false }
    }
    return true
  }
}
