internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The elements of which a list of a view has rows.
final class RowSource {
  /// A change of the elements.
  enum Change {
    case row(RowID)
    case step(CollectionChange)
    /// Any may have changed.
    case all
  }

  private enum Kind {
    /// The sources of a pattern: the text before and after its star.
    case pattern(Pattern, before: String, after: String)
    case list
    case map
    /// A value that is an array or an object.
    case value(() -> JSONText?)
  }

  private let kind: Kind
  private let names: [String]
  private let provider: SourceProvider
  private var elements: LongArray<JSONText> = []
  private var members: SortedMembers = [:]

  /// The sources of the pattern, or the first keys of the map, that were found.
  private var found: [RowID] = []

  /// The last key of the map that was found; `nil` if there are no more.
  private var lastKey: String?

  /// The most keys of a map that are found at once.
  private static let keysAtOnce = 1_000

  /// The place at which the search for them goes on; `nil` if it is over.
  private var place: SearchPlace?
  private let observation = SerialDisposable(otherDisposable: nil)
  private let bag = DisposeBag()
  private let changes: [Signal<SourceChange, Never>]

  /// - Parameter source: The source with its arguments filled in.
  init(_ source: ShownSource) {
    names = source.names
    provider = source.providers[0]
    let name = names[0]
    if let pattern = source.pattern {
      let star = name.range(ofStar: pattern)
      kind = .pattern(pattern, before: star.before, after: star.after)
      place = SearchPlace()
      changes = [provider.changesMatching(pattern)]
    } else if source.isPlain, provider.kind(of: name) == .list {
      kind = .list
      // Not by way of other lines: a step is noted in its commit, before the table may read the list.
      changes = [provider.changes(name)]
    } else if source.isPlain, provider.kind(of: name) == .map {
      kind = .map
      changes = [provider.changes(name)]
    } else {
      kind = .value { source.text }
      changes = zip(source.names, source.providers).map(source.changes)
    }
  }

  /// The most sources of a pattern that are found: rows, and sources that are counted only.
  private static let most = 2 * RowTable.most

  /// Whether sources of the pattern, or keys of the map, were not searched yet.
  var isSearching: Bool { place != nil || lastKey != nil }

  /// Finds the next sources of the pattern, or keys of the map.
  ///
  /// - Parameter count: The most to find, if the search can go on later.
  /// - Throws: `too_expensive` if too many names do not match the pattern; the search is over then.
  func find(atMost count: Int) throws(WireError) -> [RowID] {
    if let lastKey { return keys(after: lastKey, atMost: count) }
    guard case .pattern(let pattern, _, _) = kind, var place else { return [] }
    let most = min(Self.most - found.count, provider.canSearchGoOn() ? count : .max)
    var (new, isStopped) = ([RowID](), false)
    do throws(NameIndex.TooVain) {
      try provider.search(pattern, [], &place) { name in
        if let id = id(of: name) { new.append(id) }
        isStopped = new.count >= most
        return !isStopped
      }
    } catch {
      self.place = nil
      throw .tooExpensive("pattern", NameIndex.maxVain + 1, max: NameIndex.maxVain)
    }
    found += new
    self.place = isStopped && found.count < Self.most ? place : nil
    return new
  }

  /// Returns the keys of the map after a key.
  private func keys(after key: String?, atMost count: Int) -> [RowID] {
    let keys = members.keys(after: key, atMost: count)
    lastKey = keys.count == count ? keys.last : nil
    return keys.map { .name($0) }
  }

  /// The number of elements after the last one that can be a row.
  ///
  /// The table itself counts the keys of a map that are no rows.
  var beyondCount: Int { max(0, elements.count - RowTable.most) }

  /// The ids of all elements; of a pattern or a map, of those that were found first.
  var ids: [RowID] {
    switch kind {
    case .pattern, .map: found
    case .list, .value:
      elements.indices.prefix(RowTable.most).map { .number($0) }
        + members.keys.map { .name($0) }
    }
  }

  /// Whether the ids are names.
  var isNamed: Bool {
    switch kind {
    case .pattern, .map: true
    case .list: false
    case .value(let read): read()?.text.utf8.first == UInt8(ascii: "{")
    }
  }

  /// Returns the value of an element; `nil` if there is none.
  func value(_ id: RowID) -> JSONText? {
    switch (kind, id) {
    case (.pattern(_, let before, let after), .name(let name)):
      provider.value(before + name + after)
    case (_, .name(let name)): members[name]
    case (_, .number(let place)): elements.indices ~= place ? elements[place] : nil
    }
  }

  /// Whether an element may have an id, which a client has sent.
  func canHave(_ id: RowID) -> Bool {
    guard case .pattern(let pattern, let before, let after) = kind else { return true }
    guard case .name(let name) = id else { return false }
    return pattern.matches(before + name + after)
  }

  private func id(of name: String) -> RowID? {
    guard case .pattern(_, let before, let after) = kind,
      name.utf8.count >= before.utf8.count + after.utf8.count
    else { return nil }
    return .name(String(name.dropFirst(before.count).dropLast(after.count)))
  }

  // MARK: Changes

  /// Calls a function with each change from now on.
  func observe(_ receive: @escaping (Change) -> Void) {
    let bag = DisposeBag()
    for changes in changes {
      changes.observeNext { [unowned self] change in receive(self.change(change)) }
        .dispose(in: bag)
    }
    observation.otherDisposable = bag
  }

  /// Ends the observation.
  ///
  /// - Returns: The elements, to be freed.
  func stop() -> Any {
    let elements = (elements, members, found)
    observation.otherDisposable?.dispose()
    observation.otherDisposable = nil
    (self.elements, members, found) = ([], [:], [])
    (place, lastKey) = (isPattern ? SearchPlace() : nil, nil)
    return elements
  }

  private func change(_ change: SourceChange) -> Change {
    switch kind {
    case .pattern: id(of: change.source).map { .row($0) } ?? .all
    case .list, .map: change.step.map { .step($0) } ?? .all
    case .value: .all
    }
  }

  /// Whether all elements can be read at once although the time of the client is over.
  ///
  /// - Parameter count: The most elements. A pattern reads none here.
  func isShort(_ count: Int) -> Bool {
    switch kind {
    case .pattern: true
    case .value: false
    case .list, .map:
      provider.collection(names[0]).map { $0.count <= count } ?? false
    }
  }

  /// Reads all elements.
  func read() {
    (elements, members) = ([], [:])
    switch kind {
    case .pattern: break
    case .list, .map:
      switch provider.collection(names[0]) {
      case .list(let list)?: elements = list
      case .map(let map)?: members = map
      case nil: read(provider.value(names[0]))
      }
      if case .map = kind { found = keys(after: nil, atMost: Self.keysAtOnce) }
    case .value(let read): self.read(read())
    }
  }

  private func read(_ value: JSONText?) {
    switch value?.text.utf8.first {
    case UInt8(ascii: "["): elements = LongArray(value?.elements ?? [])
    case UInt8(ascii: "{"): members = SortedMembers(value?.members ?? [:])
    default: break
    }
  }

  /// Reads all elements again, and returns the ids of those that have changed.
  func readChanges() -> [RowID] {
    guard !isPattern else { return ids }
    let (old, oldMembers) = (elements, members)
    read()
    if case .map = kind, oldMembers.isEmpty { return ids }
    var changed: [RowID] = []
    for place in 0..<min(max(old.count, elements.count), RowTable.most)
    where place >= old.count || place >= elements.count || old[place] != elements[place] {
      changed.append(.number(place))
    }
    for name in Set(oldMembers.keys).union(members.keys) where oldMembers[name] != members[name] {
      changed.append(.name(name))
    }
    return changed
  }

  /// Whether the elements are found by their names, without reading a value.
  var isPattern: Bool { if case .pattern = kind { true } else { false } }

  /// Applies a step of a list or map, and returns the ids of the elements that have changed; `nil` if
  /// all must be read again.
  func apply(_ step: CollectionChange) -> [RowID]? {
    let count = elements.count
    switch step {
    case .insert(let at, let value) where 0...count ~= at:
      elements.insert(value, at: at)
      return places(from: at, to: count + 1)
    case .update(let at, let value) where elements.indices ~= at:
      elements[at] = value
      return places(from: at, to: at + 1)
    case .remove(let at) where elements.indices ~= at:
      elements.remove(at: at)
      return places(from: at, to: count)
    case .move(let from, let to) where elements.indices ~= from && elements.indices ~= to:
      elements.insert(elements.remove(at: from), at: to)
      return places(from: min(from, to), to: max(from, to) + 1)
    case .put(let key, let value):
      members[key] = value
      return [.name(key)]
    case .delete(let key):
      members[key] = nil
      return [.name(key)]
    case .insert, .update, .remove, .move, .merge, .reset: return nil
    }
  }

  private func places(from start: Int, to end: Int) -> [RowID] {
    // The others are counted only.
    (min(start, RowTable.most)..<min(end, RowTable.most)).map { .number($0) }
  }
}

extension String {
  /// Returns the parts of a pattern before and after its star.
  fileprivate func range(ofStar pattern: Pattern) -> (before: String, after: String) {
    let segments = split(separator: "/", omittingEmptySubsequences: false)
    guard let star = segments.firstIndex(where: { $0 == "*" || $0 == "**" }) else {
      return (self, "")
    }
    let before = segments[..<star].map { $0 + "/" }.joined()
    let after = segments[(star + 1)...].map { "/" + $0 }.joined()
    return (before, after)
  }
}
