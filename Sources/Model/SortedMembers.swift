public import JSON

/// The members of a map, sorted by key and in pieces.
///
/// A part of them is found and sent without a look at the others, and a copy that is kept while the
/// map changes costs a piece for each change; see ``LongArray``.
@usableFromInline
package struct SortedMembers: Equatable, Sendable {
  @usableFromInline
  package typealias Member = (key: String, value: JSONText)

  fileprivate struct Entry: Equatable, Sendable {
    let key: String
    var value: JSONText
  }

  private var entries: LongArray<Entry> = []

  package init() {}

  package init(_ members: [String: JSONText]) {
    entries = LongArray(
      members.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key })
  }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  package subscript(key: String) -> JSONText? {
    get { entry(key)?.value }
    set {
      let place = entries.place { $0.key < key }
      let isKnown = entries.element(at: place)?.key == key
      if let newValue {
        let entry = Entry(key: key, value: newValue)
        if isKnown { entries[place] = entry } else { entries.insert(entry, at: place) }
      } else if isKnown {
        entries.remove(at: place)
      }
    }
  }

  /// Returns a key as it is among the members, where one that is canonically equivalent counts as the
  /// same; `nil` if it is not there.
  package func known(_ key: String) -> String? { entry(key)?.key }

  private func entry(_ key: String) -> Entry? {
    guard let entry = entries.element(at: entries.place { $0.key < key }), entry.key == key else {
      return nil
    }
    return entry
  }

  /// All keys, in order.
  package var keys: [String] { entries.map(\.key) }

  /// Returns the first keys, or the first ones after a key.
  package func keys(after key: String?, atMost count: Int) -> [String] {
    var found: [String] = []
    guard count > 0 else { return found }
    entries.forEach(from: entries.place { entry in key.map { entry.key <= $0 } ?? false }) {
      found.append($0.key)
      return found.count < count
    }
    return found
  }

  /// Calls a function with the members from an index on, until it returns `false`.
  package func forEach(from start: Int, _ body: (String, JSONText) -> Bool) {
    entries.forEach(from: start) { body($0.key, $0.value) }
  }

  /// All members as an unsorted dictionary.
  package var dictionary: [String: JSONText] {
    Dictionary(uniqueKeysWithValues: entries.lazy.map { ($0.key, $0.value) })
  }
}

extension SortedMembers: Sequence {
  @usableFromInline
  package struct Iterator: IteratorProtocol {
    fileprivate var entries: FlattenSequence<[[Entry]]>.Iterator

    fileprivate init(_ entries: LongArray<Entry>) { self.entries = entries.makeIterator() }

    @usableFromInline
    package mutating func next() -> Member? { entries.next().map { ($0.key, $0.value) } }
  }

  @usableFromInline
  package func makeIterator() -> Iterator { Iterator(entries) }
}

extension SortedMembers: ExpressibleByDictionaryLiteral {
  @usableFromInline
  package init(dictionaryLiteral members: (String, JSONText)...) {
    self.init(Dictionary(members) { $1 })
  }
}

/// They are encoded as one object.
extension SortedMembers: Codable {
  @usableFromInline
  package init(from decoder: any Decoder) throws {
    self.init(try [String: JSONText](from: decoder))
  }

  @usableFromInline
  package func encode(to encoder: any Encoder) throws { try dictionary.encode(to: encoder) }
}
