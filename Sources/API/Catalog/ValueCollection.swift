package import Connections
internal import EventSourcing
package import JSON
package import Model
package import Signals
internal import Wire

/// The values of many sources, collected in slices of the client's time.
///
/// All values are those of one position: changes of sources that were passed already are noted
/// meanwhile, and their values are read again at the end. Then the values are written, in slices too.
package final class ValueCollection: PartialRequest {
  /// The sources of one service.
  package struct Part {
    /// Calls a function with the names from a place on, until it returns `false`.
    let search: (inout SearchPlace, (String) -> Bool) throws(NameIndex.TooVain) -> Void

    /// Whether the search can go on at its place later.
    let canGoOn: () -> Bool

    /// Returns the durable value of a source; `nil` if it is left out.
    let value: (String) -> JSONText?

    /// The changes of these sources.
    let changes: Signal<SourceChange, Never>

    package init(
      search: @escaping (inout SearchPlace, (String) -> Bool) throws(NameIndex.TooVain) -> Void,
      canGoOn: @escaping () -> Bool, value: @escaping (String) -> JSONText?,
      changes: Signal<SourceChange, Never>
    ) {
      (self.search, self.canGoOn, self.value) = (search, canGoOn, value)
      self.changes = changes
    }
  }

  private typealias Entry = (name: String, value: JSONText)

  private let parts: [Part]
  private let limit: Int
  private let host: ServiceHost

  /// The bytes of each name that are left out.
  private let dropped: Int

  /// Whether changes after the position are kept.
  private let keepsChanges: Bool

  /// The part that is searched, and where.
  private var index = 0
  private var place = SearchPlace()

  /// The found sources: each list is sorted by name.
  private var runs: [[Entry]] = []
  private var size = CallContext.answerBytes

  /// The sources that have changed after the first slice, and the values of some of them.
  private var changed: Set<String> = []
  private var corrections: [String: JSONText?] = [:]
  private let bag = DisposeBag()
  private var isObserving = false

  /// The position of the values, once all are found.
  private(set) var position: UInt64?

  /// The changes after ``position``.
  private(set) var missed: [SourceChange] = []

  /// The lists that are merged, the next entry of each, and the object that is written so far.
  private var heads: [Int] = []
  private var corrected: [(name: String, value: JSONText?)] = []
  private var text = ByteBuffer()

  /// - Parameters:
  ///   - dropped: The bytes of each name that are left out.
  ///   - keepsChanges: Whether changes after the position of the values are kept.
  init(
    of parts: [Part], _ host: ServiceHost, limit: Int, dropping dropped: Int = 0,
    keepsChanges: Bool = false
  ) {
    (self.parts, self.host, self.limit) = (parts, host, limit)
    (self.dropped, self.keepsChanges) = (dropped, keepsChanges)
  }

  deinit { bag.dispose() }

  /// Appends the values as an object, sorted by name.
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
      var last = runs.last?.last?.name
      if runs.isEmpty { runs.append([]) }
      do throws(NameIndex.TooVain) {
        try part.search(&place) { name in
          if let value = part.value(name) {
            if let last, name < last { runs.append([]) }
            last = name
            runs[runs.count - 1].append((name, value))
            size += name.utf8.count + value.text.utf8.count + 4
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
    guard !isObserving else { return }
    isObserving = true
    for part in parts {
      part.changes.observeNext { [unowned self] change in
        guard position == nil else { return missed.append(change) }
        changed.insert(change.source)
      }
      .dispose(in: bag)
    }
  }

  /// Reads the values of changed sources again.
  private func correct() {
    guard !changed.isEmpty else { return }
    for name in changed {
      corrections[name] = .some(parts.lazy.compactMap { $0.value(name) }.first)
    }
    changed = []
  }

  /// Ends the search: the values are those of this position.
  private func freeze() {
    position = host.durable
    corrected = corrections.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    corrections = [:]
    if !keepsChanges { bag.dispose() }
    heads = runs.map { _ in 0 }
    text.append(UInt8(ascii: "{"))
  }

  // MARK: Writing

  private func merge(_ slice: Slice) throws(WireError) -> Bool {
    if keepsChanges { observe() }
    while let (name, value) = popFirst() {
      if let value {
        text.key(quoted: name.utf8.span.extracting(droppingFirst: min(dropped, name.utf8.count)))
        text.append(value.text)
      }
      if slice.isOver() {
        try checkSize(text.count)
        return false
      }
    }
    text.append(UInt8(ascii: "}"))
    try checkSize(text.count)
    runs = []
    return true
  }

  /// Removes the first source of all lists and corrections; `nil` if there is none.
  private func popFirst() -> (String, JSONText?)? {
    var first: String?
    var run = 0
    for i in heads.indices where heads[i] < runs[i].count {
      let name = runs[i][heads[i]].name
      guard first.map({ name < $0 }) ?? true else { continue }
      (first, run) = (name, i)
    }
    if let correction = corrected.first, first.map({ correction.name <= $0 }) ?? true {
      corrected.removeFirst()
      for i in heads.indices
      where heads[i] < runs[i].count && runs[i][heads[i]].name == correction.name {
        heads[i] += 1
      }
      return (correction.name, correction.value)
    }
    guard first != nil else { return nil }
    let entry = runs[run][heads[run]]
    heads[run] += 1
    return (entry.name, entry.value)
  }
}

extension CallContext {
  /// Answers a call with a value: an object of values that are collected.
  ///
  /// - Parameters:
  ///   - key: Tells the request from others of the client.
  ///   - dropped: The bytes of each name that are left out.
  package func answer(
    _ call: Call, _ key: String, dropping dropped: Int,
    with parts: () throws -> [ValueCollection.Part]
  ) throws {
    let values = try inParts(call, key) {
      ValueCollection(of: try parts(), host, limit: call.room, dropping: dropped)
    }
    call.answer { buffer in
      buffer.object {
        $0.key("value")
        values.write(to: &$0)
      }
    }
  }
}
