internal import JSON
internal import Model

/// Lists by key, which notes the steps of an event.
///
/// The watchers of a list get the steps. A list without elements does not exist.
@usableFromInline
package struct ListTable<Key: TableKey, Element: TableRow>: Sendable {
  /// The elements by key; no list is empty.
  @usableFromInline
  package internal(set) var lists: [Key: [Element]] = [:]

  @usableFromInline
  var notes = TableNotes<Note>()

  /// A step with what undoes it.
  @usableFromInline
  enum Step: Sendable {
    case insert(at: Int, Element)
    case update(at: Int, Element, before: Element)
    case remove(at: Int, before: Element)
    case move(from: Int, to: Int)
    case replace([Element], before: [Element])
  }

  /// A step of an event.
  @usableFromInline
  struct Note: Sendable {
    @usableFromInline
    let key: Key
    @usableFromInline
    let step: Step

    @inlinable
    init(_ key: Key, _ step: Step) { (self.key, self.step) = (key, step) }
  }

  @inlinable
  package init() {}

  /// The number of lists with elements.
  @inlinable
  package var count: Int { lists.count }

  /// The elements of a list; none if it does not exist.
  @inlinable
  package subscript(key: Key) -> [Element] {
    get { lists[key] ?? [] }
    set {
      let before = lists[key] ?? []
      if before.isEmpty, newValue.isEmpty { return }
      change(key, .replace(newValue, before: before))
    }
  }

  /// Adds an element at the end of a list.
  @inlinable
  package mutating func append(_ element: Element, to key: Key) {
    change(key, .insert(at: lists[key]?.count ?? 0, element))
  }

  /// Inserts an element; does nothing if the index is not within the list.
  @inlinable
  package mutating func insert(_ element: Element, at index: Int, in key: Key) {
    guard 0...(lists[key]?.count ?? 0) ~= index else { return }
    change(key, .insert(at: index, element))
  }

  /// Replaces an element; does nothing if there is none.
  @inlinable
  package mutating func update(_ element: Element, at index: Int, in key: Key) {
    guard let before = self.element(index, key) else { return }
    change(key, .update(at: index, element, before: before))
  }

  /// Removes an element; does nothing if there is none.
  @inlinable
  package mutating func remove(at index: Int, in key: Key) {
    guard let before = element(index, key) else { return }
    change(key, .remove(at: index, before: before))
  }

  /// Moves an element: removes it, then inserts it at `to` in the shortened list.
  ///
  /// Does nothing if an index is not within the list.
  @inlinable
  package mutating func move(from: Int, to: Int, in key: Key) {
    guard element(from, key) != nil, element(to, key) != nil, from != to else { return }
    change(key, .move(from: from, to: to))
  }

  /// Removes all lists; see ``Table/removeAll()``.
  @inlinable
  package mutating func removeAll() {
    for key in Array(lists.keys) { self[key] = [] }
  }

  @inlinable
  func element(_ index: Int, _ key: Key) -> Element? {
    guard let list = lists[key], list.indices ~= index else { return nil }
    return list[index]
  }

  @inlinable
  mutating func change(_ key: Key, _ step: Step) {
    apply(step, to: key)
    if notes.isOn { notes.add(Note(key, step)) }
  }

  @inlinable
  mutating func apply(_ step: Step, to key: Key) {
    switch step {
    case .insert(let at, let element): lists[key, default: []].insert(element, at: at)
    case .update(let at, let element, _): lists[key]?[at] = element
    case .remove(let at, _):
      lists[key]?.remove(at: at)
      if lists[key]?.isEmpty == true { lists[key] = nil }
    case .move(let from, let to):
      if let element = lists[key]?.remove(at: from) { lists[key]?.insert(element, at: to) }
    case .replace(let elements, _): lists[key] = elements.isEmpty ? nil : elements
    }
  }

  @inlinable
  mutating func undo(_ step: Step, of key: Key) {
    switch step {
    case .insert(let at, let element): apply(.remove(at: at, before: element), to: key)
    case .update(let at, let element, let before):
      apply(.update(at: at, before, before: element), to: key)
    case .remove(let at, let before): apply(.insert(at: at, before), to: key)
    case .move(let from, let to): apply(.move(from: to, to: from), to: key)
    case .replace(let elements, let before):
      apply(.replace(before, before: elements), to: key)
    }
  }
}

extension ListTable: Codable {
  @usableFromInline
  package init(from decoder: any Decoder) throws {
    lists = try [Key: [Element]](from: decoder)
  }

  @usableFromInline
  package func encode(to encoder: any Encoder) throws { try lists.encode(to: encoder) }
}

extension ListTable: NotedTable {
  /// Ends the event that was applied.
  @inlinable
  mutating func finishEvent(at seq: UInt64, _ body: (Key, Step) -> Void) {
    notes.finish(at: seq) { body($0.key, $0.step) }
  }

  @inlinable
  package mutating func revertEvent(at seq: UInt64) {
    for _ in 0..<notes.popLast(at: seq) {
      if let note = notes.popLast() { undo(note.step, of: note.key) }
    }
  }

  /// Applies the steps of the oldest event to the lists of the committed state.
  ///
  /// - Parameter body: Called after each step, with whether its list existed before it.
  @inlinable
  mutating func showEvent(
    at seq: UInt64, in shown: inout ListTable, _ body: (Key, Step, Bool, Bool) -> Void
  ) {
    for _ in 0..<notes.popFirst(at: seq) {
      let note = notes.removeFirst()
      let wasThere = shown.lists[note.key] != nil
      shown.apply(note.step, to: note.key)
      body(note.key, note.step, wasThere, shown.lists[note.key] != nil)
    }
  }

  @inlinable
  package mutating func setNoting(as number: Int?) { notes.setNoting(as: number) }

  @usableFromInline
  package mutating func makeUnique() { lists.reserveCapacity(lists.count) }
}

extension ListTable.Step {
  /// Returns the step as the watchers of the list get it; `nil` if they see no difference.
  ///
  /// - Parameter isMerging: Whether a changed element has only its changed members.
  func change(isMerging: Bool, _ text: (Element) -> JSONText) -> CollectionChange? {
    switch self {
    case .insert(let at, let element): .insert(at: at, text(element))
    case .update(let at, let element, let before) where isMerging:
      .merge(at: at, from: text(before), to: text(element))
    case .update(let at, let element, _): .update(at: at, text(element))
    case .remove(let at, _): .remove(at: at)
    case .move(let from, let to): .move(from: from, to: to)
    case .replace(let elements, _): .reset(JSONText(elements: elements.map(text)))
    }
  }

  /// The change of the list's size in bytes.
  ///
  /// - Parameters:
  ///   - sizeBefore: Returns the size of an element that the step removes.
  ///   - size: Returns the size of an element that it adds.
  func growth(before sizeBefore: (Element) -> Int, _ size: (Element) -> Int) -> Int {
    switch self {
    case .insert(_, let element): size(element)
    case .update(_, let element, let before): size(element) - sizeBefore(before)
    case .remove(_, let before): -sizeBefore(before)
    case .move: 0
    case .replace(let elements, let before):
      elements.reduce(0) { $0 + size($1) } - before.reduce(0) { $0 + sizeBefore($1) }
    }
  }
}
