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

  /// The names of sources that have a value now and are wanted, as many as there are or as asked for.
  let names: (_ limit: Int, _ isWanted: (String) -> Bool) -> [String]

  /// Every change from now on of one source, or of all that are wanted.
  let changes: (_ source: String) -> Signal<SourceChange, Never>
  let changesWhere: (_ isWanted: @escaping (String) -> Bool) -> Signal<SourceChange, Never>

  init(
    descriptions: [Description], isJournaled: Bool, exists: @escaping (String) -> Bool,
    value: @escaping (String) -> JSONText?, newest: ((String) -> JSONText?)? = nil,
    collection: @escaping (String) -> SourceCollection? = { _ in nil },
    names: @escaping (Int, (String) -> Bool) -> [String],
    changes: @escaping (String) -> Signal<SourceChange, Never>,
    changesWhere: @escaping (@escaping (String) -> Bool) -> Signal<SourceChange, Never>,
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
    self.names = names
    self.changes = changes
    self.changesWhere = changesWhere
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
      names: { [names] limit, isWanted in
        let loaded = loading.names().filter(isWanted).prefix(limit)
        return loaded + names(limit - loaded.count, isWanted)
      },
      changes: { [changes] in loading.exists($0) ? loading.changes($0) : changes($0) },
      changesWhere: { [changesWhere] isWanted in
        loading.changesWhere(isWanted).merge(with: changesWhere(isWanted))
      })
  }
}
