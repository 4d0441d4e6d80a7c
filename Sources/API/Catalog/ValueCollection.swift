package import Connections
internal import EventSourcing
package import JSON
package import Model
package import Signals
internal import Wire

/// Many values with a key each, collected in slices of the client's time and then written in slices.
///
/// All values are those of one position: changes of values that were passed already are noted
/// meanwhile, and those values are read again at the end.
///
///     let part = ValueCollection.Part(people.rows, where: mayRead) { $1 }
///     let values = try context.inParts(call, "people.list") { ValueCollection(of: [part], …) }
package class ValueCollection<Key: Hashable & Comparable, Value>: PartialRequest {
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

    package init(
      search: @escaping (inout SearchPlace, (Key) -> Bool) throws(NameIndex.TooVain) -> Void,
      canGoOn: @escaping () -> Bool, value: @escaping (Key) -> Value?,
      changes: Signal<[Key], Never>
    ) {
      (self.search, self.canGoOn, self.value) = (search, canGoOn, value)
      self.changes = changes
    }
  }

  /// The form of the answer: its brackets, and the text of each value.
  package struct Form {
    let brackets: (UInt8, UInt8)

    /// Returns the bytes that a value takes at least.
    let size: (Key, Value) -> Int
    let write: (Key, Value, inout ByteBuffer) throws -> Void
  }

  private typealias Entry = (key: Key, value: Value)

  private let parts: [Part]
  private let form: Form
  private let limit: Int
  fileprivate let host: ServiceHost

  /// The part that is searched, and where.
  private var index = 0
  private var place = SearchPlace()

  /// The found values: each list is sorted by key.
  private var runs: [[Entry]] = []
  private var size = CallContext.answerBytes

  /// The keys that have changed after the first slice, and the values of some of them.
  private var changed: Set<Key> = []
  private var corrections: [Key: Value?] = [:]
  private let bag = DisposeBag()

  /// The position of the values, once all are found.
  private(set) var position: UInt64?

  /// The lists that are merged, the next entry of each, and the text that is written so far.
  private var heads: [Int] = []
  private var corrected: ArraySlice<(key: Key, value: Value?)> = []
  private var text = ByteBuffer()

  init(of parts: [Part], _ host: ServiceHost, limit: Int, as form: Form) {
    (self.parts, self.host, self.limit, self.form) = (parts, host, limit, form)
  }

  deinit { bag.dispose() }

  /// Appends the values, sorted by key.
  func write(to buffer: inout ByteBuffer) { buffer.append(text) }

  // MARK: Slices

  /// Goes on until the slice is over.
  ///
  /// - Throws: `result_too_large` as soon as the values do not fit into a line; `too_expensive`.
  override func goOn(_ slice: Slice) throws -> Bool {
    if position == nil {
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
      var last = runs.last?.last?.key
      if runs.isEmpty { runs.append([]) }
      do throws(NameIndex.TooVain) {
        try part.search(&place) { key in
          if let value = part.value(key) {
            if let last, key < last { runs.append([]) }
            last = key
            runs[runs.count - 1].append((key, value))
            size += form.size(key, value)
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
    heads = runs.map { _ in 0 }
    text.append(form.brackets.0)
  }

  // MARK: Writing

  private func merge(_ slice: Slice) throws -> Bool {
    while let (key, value) = popFirst() {
      if let value { try form.write(key, value, &text) }
      if slice.isOver() {
        try checkSize(text.count)
        return false
      }
    }
    text.append(form.brackets.1)
    try checkSize(text.count)
    runs = []
    return true
  }

  /// Removes the first entry of all lists and corrections; `nil` if there is none.
  private func popFirst() -> (Key, Value?)? {
    var first: Key?
    var run = 0
    for i in heads.indices where heads[i] < runs[i].count {
      let key = runs[i][heads[i]].key
      guard first.map({ key < $0 }) ?? true else { continue }
      (first, run) = (key, i)
    }
    if let correction = corrected.first, first.map({ correction.key <= $0 }) ?? true {
      corrected.removeFirst()
      for i in heads.indices
      where heads[i] < runs[i].count && runs[i][heads[i]].key == correction.key {
        heads[i] += 1
      }
      return (correction.key, correction.value)
    }
    guard first != nil else { return nil }
    let entry = runs[run][heads[run]]
    heads[run] += 1
    return (entry.key, entry.value)
  }
}

/// The values of many sources, as an object.
package typealias SourceValues = ValueCollection<String, JSONText>

/// The values of many sources for a subscription, which also gets the changes after their position.
final class SubscribedValues: SourceValues {
  private let changes: [Signal<SourceChange, Never>]
  private let missedBag = DisposeBag()

  /// The changes after ``position``.
  private(set) var missed: [SourceChange] = []

  /// - Parameter changes: The changes that are kept, if the values are not complete in one slice.
  init(
    of parts: [Part], _ host: ServiceHost, limit: Int, changes: [Signal<SourceChange, Never>]
  ) {
    self.changes = changes
    super.init(of: parts, host, limit: limit, as: .members())
  }

  deinit { missedBag.dispose() }

  fileprivate override func freeze() {
    super.freeze()
    for changes in changes {
      changes.observeNext { [unowned self] in missed.append($0) }.dispose(in: missedBag)
    }
  }
}

extension ValueCollection.Form where Key == String, Value == JSONText {
  /// An object whose members are named by the keys.
  ///
  /// - Parameter dropped: The bytes of each key that are left out.
  package static func members(dropping dropped: Int = 0) -> Self {
    Self(
      brackets: (UInt8(ascii: "{"), UInt8(ascii: "}")),
      size: { $0.utf8.count + $1.text.utf8.count + 4 },
      write: { name, value, text in
        text.key(quoted: name.utf8.span.extracting(droppingFirst: min(dropped, name.utf8.count)))
        text.append(value.text)
      })
  }
}

extension ValueCollection.Form where Value: Encodable {
  /// An array of the values in the order of their keys.
  static func elements(_ encoder: JSONEncoder) -> Self {
    Self(
      brackets: (UInt8(ascii: "["), UInt8(ascii: "]")), size: { _, _ in 2 },
      write: { _, value, text in
        let element = try encoder.text(value)
        text.separate()
        text.append(element.text)
      })
  }
}

extension ValueCollection.Part {
  /// Creates a part of the rows of a list.
  ///
  /// - Parameters:
  ///   - isShown: Whether the row of a key is not left out.
  ///   - value: Returns what is shown of a row; `nil` if it is left out.
  package init<Row>(
    _ rows: RowList<Key, Row>, where isShown: @escaping (Key) -> Bool,
    _ value: @escaping (Key, Row) -> Value?
  ) {
    var known: Set<Key> = []
    self.init(
      keys: {
        let keys = rows.keys()
        known = Set(keys)
        return keys
      },
      value: { key in isShown(key) ? rows.row(key).flatMap { value(key, $0) } : nil },
      changes: rows.changes.map { change in
        switch change {
        case .rows(let keys): keys
        case .all: Array(known.union(rows.keys()))
        }
      })
  }

  /// Creates a part of the values of listed keys.
  ///
  /// - Parameters:
  ///   - keys: Returns all keys, in any order; called once.
  ///   - value: Returns the present value; `nil` if it is left out.
  ///   - changes: The keys whose values have changed. Without it each value is the one of the moment
  ///     when it is found.
  package init(
    keys: @escaping () -> [Key], value: @escaping (Key) -> Value?,
    changes: Signal<[Key], Never> = .never()
  ) {
    var sorted: [Key]?
    var next = 0
    self.init(
      search: { _, body throws(NameIndex.TooVain) in
        let keys = sorted ?? keys().sorted()
        sorted = keys
        while next < keys.count {
          next += 1
          guard body(keys[next - 1]) else { return }
        }
      },
      canGoOn: { true }, value: value, changes: changes)
  }
}

extension CallContext {
  /// Answers a call with a value: an object of the values of sources.
  ///
  /// - Parameters:
  ///   - key: Tells the request from others of the client.
  ///   - dropped: The bytes of each name that are left out.
  package func answer(
    _ call: Call, _ key: String, dropping dropped: Int,
    with parts: () throws -> [SourceValues.Part]
  ) throws {
    try answer(call, key) {
      SourceValues(of: try parts(), host, limit: call.room, as: .members(dropping: dropped))
    }
  }

  /// Answers a call with a value that is collected.
  fileprivate func answer<Key, Value>(
    _ call: Call, _ key: String, _ begin: () throws -> ValueCollection<Key, Value>
  ) throws {
    let values = try inParts(call, key, begin)
    call.answer { buffer in
      buffer.object {
        $0.key("value")
        values.write(to: &$0)
      }
    }
  }
}

extension Catalog {
  /// Offers a query whose answer is an array of rows, made in slices of the client's time.
  ///
  ///     catalog.listQuery("people.list", "All people, by number.") { context in
  ///       .init(people.rows, where: { context.role.mayRead("people/\($0)") }) { $1 }
  ///     }
  package func listQuery<Key, Value: Codable>(
    _ name: String, _ doc: String,
    of rows: @escaping (CallContext) -> ValueCollection<Key, Value>.Part
  ) {
    listQuery(name, doc, NoParameters.self) { context, _ in (name, rows(context)) }
  }

  /// Offers a query whose answer is an array of rows, made in slices of the client's time.
  ///
  /// - Parameter rows: Returns a text that tells the request from others of the client, and the rows.
  package func listQuery<Parameters: Decodable, Key, Value: Codable>(
    _ name: String, _ doc: String, _ parameters: Parameters.Type,
    of rows:
      @escaping (CallContext, Parameters) throws -> (
        key: String, part: ValueCollection<Key, Value>.Part
      )
  ) {
    query(name, doc, parameters, .value([Value].self)) { context, call, parameters in
      let (key, part) = try rows(context, parameters)
      try context.answer(call, key) {
        ValueCollection(
          of: [part], context.host, limit: call.room, as: .elements(context.catalog.encoder))
      }
    }
  }
}
