package import Connections
internal import EventSourcing
package import JSON
package import Model
package import Signals
internal import Wire

/// Many values with a key each, collected in slices of the client's time and then written in slices.
///
/// All values are those of one position: changes of values that were passed already are noted
/// meanwhile, and those values are read again at the end. Lists use it by
/// ``Catalog/listQuery(_:_:of:rows:)``.
///
/// It is not generic: code for each row that finds types at run time would take several times as
/// long.
package class ValueCollection: PartialRequest {
  /// The key of a value: a number or a name, which gives the order.
  package struct Key: Hashable, Comparable {
    var number = 0
    var name = ""

    package static func < (left: Key, right: Key) -> Bool {
      left.number == right.number ? left.name < right.name : left.number < right.number
    }
  }

  /// A value.
  enum Value {
    case text(JSONText)

    /// A row, which is encoded when it is written.
    case row(() throws -> JSONText)

    /// A long list or map, which is written in slices.
    case elements(SourceCollection)

    /// The bytes that it has at least.
    fileprivate var leastBytes: Int {
      switch self {
      case .text(let text): text.text.utf8.count
      case .row: 0
      case .elements(let elements): 2 * elements.count
      }
    }
  }

  /// The values of one service.
  package struct Part {
    /// Calls a function with the keys from a place on, until it returns `false`.
    let search: (inout SearchPlace, (Key) -> Bool) throws(NameIndex.TooVain) -> Void

    /// Whether the search can go on at its place later.
    let canGoOn: () -> Bool

    /// Returns the durable value of a key; `nil` if it is left out.
    let value: (Key) -> Value?

    /// Emits the keys whose values have changed, from now on.
    let changes: Signal<[Key], Never>

    /// Whether it is searched from the place on, so that it can be searched again.
    var isSearchable = false
  }

  /// The form in which the values are written.
  enum Form {
    /// An object whose members are named by the keys, without some bytes of each key.
    case members(dropping: Int)

    /// An array in the order of the keys.
    case elements
  }

  private let parts: [Part]
  private let form: Form
  private let limit: Int
  fileprivate let host: ServiceHost

  /// The part that is searched, and where.
  private var index = 0
  private var place = SearchPlace()

  private var found = FoundValues()
  private var size = CallContext.answerBytes

  /// The keys that have changed after the first slice, and the values of some of them.
  private var changed: Set<Key> = []
  private var corrections: [Key: Value?] = [:]
  private let bag = DisposeBag()

  /// The replaced states when the search began; see ``ServiceHost/replacements``.
  private var replacements: UInt64

  /// The position of the values, once all are found.
  private(set) var position: UInt64?

  /// The corrections that were not merged yet, sorted by key, and the text that is written so far.
  private var corrected: ArraySlice<(key: Key, value: Value?)> = []

  /// The elements of the value that is being written; `nil` if it is written.
  private var writing: WrittenElements?
  private var text = PieceBuffer()

  init(of parts: [Part], _ host: ServiceHost, limit: Int, as form: Form) {
    (self.parts, self.host, self.limit, self.form) = (parts, host, limit, form)
    replacements = host.replacements
  }

  deinit {
    bag.dispose()
    free(found.removeAll())
  }

  /// Moves the values, sorted by key, to the end of a buffer.
  func move(to buffer: inout PieceBuffer) {
    var moved = PieceBuffer()
    swap(&moved, &text)
    buffer.append(moved)
  }

  // MARK: Slices

  /// Goes on until the slice is over.
  ///
  /// - Throws: `result_too_large` as soon as the values do not fit into a line; `too_expensive`.
  override func goOn(_ slice: Slice) throws -> Bool {
    if position == nil {
      restartIfReplaced()
      correct()
      guard try search(slice) else {
        observe()
        return false
      }
      freeze()
    }
    return try merge(slice)
  }

  private func search(_ slice: Slice) throws(WireError) -> Bool {
    while index < parts.count {
      let part = parts[index]
      let canGoOn = part.canGoOn()
      var isUp = false
      do throws(NameIndex.TooVain) {
        try part.search(&place) { key in
          if let value = part.value(key) {
            found.append((key, value))
            if value.leastBytes > 0 { size += key.name.utf8.count + value.leastBytes + 4 }
          }
          guard size <= limit else { return false }
          isUp = slice.isOver() && canGoOn
          return !isUp
        }
      } catch {
        throw .tooExpensive("pattern", NameIndex.maxVain + 1, max: NameIndex.maxVain)
      }
      try checkSize(size)
      guard !isUp else { return false }
      index += 1
      place = SearchPlace()
    }
    return true
  }

  private func checkSize(_ size: Int) throws(WireError) {
    guard size <= limit else { throw .resultTooLarge(size, max: limit) }
  }

  // MARK: Changes

  /// Begins again if another state has taken the place of one.
  ///
  /// Its differences are reported later, and values of both must not be in one answer.
  private func restartIfReplaced() {
    guard replacements != host.replacements, parts.allSatisfy(\.isSearchable) else { return }
    replacements = host.replacements
    (index, place, size) = (0, SearchPlace(), CallContext.answerBytes)
    free(found.removeAll())
    (found, changed, corrections) = (FoundValues(), [], [:])
  }

  private func observe() {
    guard bag.count == 0 else { return }
    for part in parts {
      part.changes.observeNext { [unowned self] in changed.formUnion($0) }.dispose(in: bag)
    }
  }

  /// Reads the changed values again.
  private func correct() {
    guard !changed.isEmpty else { return }
    for key in changed {
      corrections[key] = .some(parts.lazy.compactMap { $0.value(key) }.first)
    }
    changed = []
  }

  /// Ends the search: the values are those of this position.
  fileprivate func freeze() {
    position = host.durable
    corrected = corrections.map { ($0.key, $0.value) }.sorted { $0.key < $1.key }[...]
    corrections = [:]
    bag.dispose()
    found.beginMerge()
    text.tail.append(UInt8(ascii: isArray ? "[" : "{"))
  }

  // MARK: Writing

  private var isArray: Bool { if case .elements = form { true } else { false } }

  /// Writes a value, or begins to write its elements.
  private func write(_ key: Key, _ value: Value) throws {
    switch form {
    case .members(let dropped):
      let name = key.name.utf8.span
      text.tail.key(quoted: name.extracting(droppingFirst: min(dropped, name.count)))
    case .elements: text.tail.separate()
    }
    switch value {
    case .text(let value): text.append(value)
    case .row(let encode): text.append(try encode())
    case .elements(let elements): writing = WrittenElements(elements)
    }
    text.cutIfLong()
  }

  private func merge(_ slice: Slice) throws -> Bool {
    while try goOnWriting(slice), let (key, value) = popFirst() {
      if let value { try write(key, value) }
      if slice.isOver() {
        try checkSize(text.count)
        return false
      }
    }
    guard writing == nil else { return false }
    text.tail.append(UInt8(ascii: isArray ? "]" : "}"))
    try checkSize(text.count)
    return true
  }

  /// Writes more elements of the value that was begun.
  ///
  /// - Returns: Whether all are written.
  private func goOnWriting(_ slice: Slice) throws -> Bool {
    guard writing?.write(to: &text, in: slice) == false else {
      writing = nil
      return true
    }
    try checkSize(text.count)
    return false
  }

  /// Removes the first entry of all lists and corrections; `nil` if there is none.
  private func popFirst() -> (Key, Value?)? {
    if let correction = corrected.first,
      found.firstKey.map({ correction.key <= $0 }) ?? true
    {
      corrected.removeFirst()
      found.removeAll(correction.key)
      return (correction.key, correction.value)
    }
    return found.popFirst().map { ($0.key, $0.value) }
  }
}

/// The values of many sources for a subscription, which also gets the changes after their position.
final class SubscribedValues: ValueCollection {
  private let changes: [Signal<SourceChange, Never>]
  private let missedBag = DisposeBag()

  /// The changes after ``position``.
  private(set) var missed: [SourceChange] = []

  /// - Parameter changes: The changes that are kept, if the values are not complete in one slice.
  init(
    of parts: [Part], _ host: ServiceHost, limit: Int, changes: [Signal<SourceChange, Never>]
  ) {
    self.changes = changes
    super.init(of: parts, host, limit: limit, as: .members(dropping: 0))
  }

  deinit { missedBag.dispose() }

  fileprivate override func freeze() {
    super.freeze()
    for changes in changes {
      changes.observeNext { [unowned self] in missed.append($0) }.dispose(in: missedBag)
    }
  }
}

extension ValueCollection.Part {
  /// Creates a part of sources.
  ///
  /// - Parameters:
  ///   - search: Calls a function with the names from a place on, until it returns `false`.
  ///   - canGoOn: Whether the search can go on at its place later.
  ///   - value: Returns the durable value of a source; `nil` if it is left out.
  ///   - changes: The sources that have changed.
  package init(
    search: @escaping (inout SearchPlace, (String) -> Bool) throws(NameIndex.TooVain) -> Void,
    canGoOn: @escaping () -> Bool, value: @escaping (String) -> JSONText?,
    changes: Signal<String, Never>
  ) {
    self.init(
      search: search, canGoOn: canGoOn, written: { value($0).map { .text($0) } },
      changes: changes)
  }

  /// Creates a part of sources whose long lists and maps are written in slices.
  init(
    search: @escaping (inout SearchPlace, (String) -> Bool) throws(NameIndex.TooVain) -> Void,
    canGoOn: @escaping () -> Bool, written value: @escaping (String) -> ValueCollection.Value?,
    changes: Signal<String, Never>
  ) {
    self.init(
      search: { place, body throws(NameIndex.TooVain) in
        try search(&place) { body(ValueCollection.Key(name: $0)) }
      },
      canGoOn: canGoOn, value: { value($0.name) },
      changes: changes.map { [ValueCollection.Key(name: $0)] }, isSearchable: true)
  }

  /// Creates a part of the values of listed keys.
  ///
  /// - Parameter keys: Returns all keys, in order; called once.
  fileprivate init(
    keys: @escaping () -> [ValueCollection.Key],
    value: @escaping (ValueCollection.Key) -> ValueCollection.Value?,
    changes: Signal<[ValueCollection.Key], Never>
  ) {
    var all: [ValueCollection.Key]?
    var next = 0
    self.init(
      search: { _, body throws(NameIndex.TooVain) in
        let keys = all ?? keys()
        all = keys
        while next < keys.count {
          next += 1
          guard body(keys[next - 1]) else { return }
        }
      },
      canGoOn: { true }, value: value, changes: changes)
  }
}

/// The rows of a list that a method answers with.
package struct ListedRows<Shown: Codable> {
  fileprivate let part: ValueCollection.Part
}

extension CallContext {
  /// Returns the rows of a list with numbers as keys.
  ///
  /// - Parameters:
  ///   - isShown: Whether the row of a key is not left out.
  ///   - shown: Returns what is shown of a row; `nil` if it is left out.
  package func rows<Row, Shown: Codable>(
    _ rows: RowList<Int, Row>, where isShown: @escaping (Int) -> Bool,
    _ shown: @escaping (Int, Row) -> Shown?
  ) -> ListedRows<Shown> {
    let encoder = catalog.encoder
    return ListedRows(
      part: .init(
        keys: { rows.keys().sorted().map { .init(number: $0) } },
        value: { key in
          guard isShown(key.number), let row = rows.row(key.number),
            let shown = shown(key.number, row)
          else { return nil }
          return .row { try encoder.text(shown) }
        },
        changes: rows.changes.map { change in
          switch change {
          case .rows(let keys): keys.map { .init(number: $0) }
          case .all: rows.keys().map { .init(number: $0) }
          }
        }))
  }

  /// Returns the rows of a list with names as keys.
  ///
  /// - Parameters:
  ///   - keys: Returns all keys, in any order; called once.
  ///   - changes: The keys whose rows have changed. Without it each row is the one of the moment when
  ///     it is found.
  ///   - shown: Returns what is shown of a row; `nil` if it is left out.
  package func rows<Shown: Codable>(
    named keys: @escaping () -> [String], changes: Signal<String, Never> = .never(),
    _ shown: @escaping (String) -> Shown?
  ) -> ListedRows<Shown> {
    let encoder = catalog.encoder
    return ListedRows(
      part: .init(
        keys: { keys().sorted().map { .init(name: $0) } },
        value: { key in
          guard let shown = shown(key.name) else { return nil }
          return .row { try encoder.text(shown) }
        },
        changes: changes.map { [.init(name: $0)] }))
  }

  /// Answers a call with a value: an object of the values of sources.
  ///
  /// - Parameters:
  ///   - key: Tells the request from others of the client.
  ///   - dropped: The bytes of each name that are left out.
  package func answer(
    _ call: Call, _ key: String, dropping dropped: Int,
    with parts: () throws -> [ValueCollection.Part]
  ) throws {
    try answer(call, key) {
      ValueCollection(of: try parts(), host, limit: call.room, as: .members(dropping: dropped))
    }
  }

  /// Answers a call with a value that is collected.
  fileprivate func answer(
    _ call: Call, _ key: String, _ begin: () throws -> ValueCollection
  ) throws {
    let values = try inParts(call, key, begin)
    call.answerInPieces { buffer in
      buffer.tail.append(#"{"value":"#)
      values.move(to: &buffer)
      buffer.tail.append("}")
    }
  }
}

extension Catalog {
  /// Offers a query whose answer is an array of rows, made in slices of the client's time.
  ///
  ///     catalog.listQuery("people.list", "All people, by number.", of: Person.self) { context in
  ///       context.rows(people.rows, where: { context.role.mayRead("people/\($0)") }) { $1 }
  ///     }
  package func listQuery<Shown>(
    _ name: String, _ doc: String, of type: Shown.Type,
    rows: @escaping (CallContext) -> ListedRows<Shown>
  ) {
    query(name, doc, NoParameters.self, .value([Shown].self)) { context, call, _ in
      try context.answer(call, name, with: rows(context))
    }
  }
}

extension CallContext {
  /// Answers a call with an array of rows.
  ///
  /// - Parameter key: Tells the request from others of the client.
  func answer(_ call: Call, _ key: String, with rows: ListedRows<some Codable>) throws {
    try answer(call, key) {
      ValueCollection(of: [rows.part], host, limit: call.room, as: .elements)
    }
  }
}
