internal import JSON
package import Signals
package import Wire

/// The coders of a daemon for its views, and the content that views share.
package final class ViewContext {
  /// The coders for the properties and the intents of views.
  let encoder = JSONEncoder()
  let decoder = JSONDecoder()

  /// Maps an internal error to the one sent to clients.
  package var wireError: (any Error) -> WireError = { WireError(.internalError, "\($0)") }

  /// The order in which a view applies the lines of its binder; see ``Assembly``.
  package var lineOrder: ([Assembly.Line]) -> [Assembly.Line] = { $0 }

  /// The content that views share.
  var contents: [SharedContent.Key: SharedContent] = [:]

  /// Returns whether the time of the client that opens a view is over.
  var isTimeUp: () -> Bool = { false }

  /// Frees texts in the time of a user.
  var free: (_ texts: [JSONText], _ user: UInt32) -> Void = { _, _ in }

  /// Queues work for a user; see ``SlicedWork``.
  var addWork: (_ user: UInt32, _ step: @escaping () -> Bool) -> Void = { _, _ in }
}

/// A property of a view that shows shared content.
protocol Viewer: AnyObject {
  /// The index of the property among the viewers of the content.
  var place: Int { get set }

  /// The index of the next list step to send; `nil` if that step is no longer kept.
  var nextStep: Int? { get }

  /// Notes that the content may have changed.
  func contentHasChanged(_ shared: SharedContent)
}

/// Content that properties of several views share, so that it is computed and stored once.
///
/// A change only marks the content as stale. It is computed at the end of the turn, when the first of
/// the views is sent.
class SharedContent {
  /// The key of a content: its type and everything that it depends on.
  struct Key: Hashable {
    private let type: ObjectIdentifier
    private let identity: Identity

    init(_ type: SharedContent.Type, _ identity: Identity) {
      (self.type, self.identity) = (ObjectIdentifier(type), identity)
    }
  }

  let context: ViewContext

  /// The observation of the source while views show the content.
  var observation: (any Disposable)?

  /// The elements of a list; `nil` if the content is a value.
  var log: ListLog? { nil }

  /// Whether a part of the changes waits, because the time for it was over.
  var isBehind: Bool { false }

  private let key: Key
  private var viewers: [any Viewer] = []
  private var isStale = false
  private let live = LiveNode("SharedContent")

  init(_ key: Key, _ context: ViewContext) {
    (self.key, self.context) = (key, context)
  }

  /// Computes the content.
  func make() {}

  /// Returns the content if it is a value.
  func text() -> JSONText { .null }

  /// Marks the content as stale.
  final func markStale() {
    guard !isStale else { return }
    isStale = true
    for viewer in viewers { viewer.contentHasChanged(self) }
  }

  /// Computes the content if it is stale.
  final func refresh() {
    guard isStale else { return }
    isStale = false
    if let log { log.forget(before: viewers.lazy.compactMap(\.nextStep).min() ?? log.end) }
    make()
  }

  final func add(_ viewer: any Viewer) {
    viewer.place = viewers.count
    viewers.append(viewer)
  }

  final func remove(_ viewer: any Viewer) {
    guard viewer.place < viewers.count, viewers[viewer.place] === viewer else { return }
    viewers.swapAt(viewer.place, viewers.count - 1)
    viewers[viewer.place].place = viewer.place
    viewers.removeLast()
    guard viewers.isEmpty else { return }
    observation?.dispose()
    observation = nil
    context.contents[key] = nil
  }
}

/// A value, computed and encoded once for all views that show it.
final class SharedValue<Value: Encodable>: SharedContent {
  private let computed: Computed<Value>
  private var made: JSONText?

  override var isBehind: Bool { computed.isBeginning() }

  init(_ computed: Computed<Value>, _ context: ViewContext) {
    self.computed = computed
    super.init(Key(SharedValue.self, computed.identity), context)
    observation = computed.changes.observeNext { [unowned self] in markStale() }
  }

  override func make() { made = nil }

  override func text() -> JSONText {
    refresh()
    if let made { return made }
    let text = context.encoder.shown(computed.value())
    made = text
    return text
  }
}

/// A list that is computed as a whole, once for all views that show it.
final class SharedList<Elements: Collection>: SharedContent where Elements.Element: Encodable {
  private let computed: Computed<Elements>
  private let elements = ListLog()

  override var log: ListLog? { elements }

  init(_ computed: Computed<Elements>, _ context: ViewContext) {
    self.computed = computed
    super.init(Key(SharedList.self, computed.identity), context)
    observation = computed.changes.observeNext { [unowned self] in markStale() }
    make()
  }

  override func make() { elements.become(computed.value().map(context.encoder.shown)) }
}

extension JSONEncoder {
  /// Encodes a value for clients; `null` if it cannot be encoded.
  func shown(_ value: some Encodable) -> JSONText {
    if let text = value as? JSONText { return text }
    return (try? text(value)) ?? .null
  }
}

extension Array where Element: Comparable {
  /// Returns the elements in order; for numbers, which most keys are, without generic code.
  @_specialize(where Element == Int)
  fileprivate func inOrder() -> [Element] { sorted() }

  /// Removes elements that are equal to the one before.
  fileprivate mutating func removeRepetitions() {
    guard var last = first else { return }
    var count = 1
    for i in 1..<Swift.max(1, self.count) where self[i] != last {
      last = self[i]
      if count < i { self[count] = last }
      count += 1
    }
    removeLast(self.count - count)
  }
}

/// A list that several views show by rows.
///
/// Only changed rows are rebuilt and encoded, once for all views. The rows of a long list are made in
/// the time of the user who opened the first view.
final class SharedRows<Key: Hashable & Comparable, Row: Encodable>: SharedContent {
  /// The rows that are made at once, also if the time of the client is over, and in a step.
  private static var few: (atOnce: Int, step: Int) { (64, 8) }

  /// The most changed rows to look up one by one, and to rebuild in a step.
  ///
  /// For more than a few, the list passes over all rows once.
  private static var changedRows: (few: Int, step: Int) { (32, 128) }

  private let list: RowList<Key, Row>
  private let user: UInt32
  private var rows = ListLog()

  /// The keys of the rows, in order.
  private var keys: [Key] = []

  /// The keys of the rows to rebuild, in any order; a key may be there several times.
  private var changed: [Key] = []
  private var haveAllChanged = false

  /// The number of changes at which repetitions are removed.
  private var mostChanges = mostRepeated

  /// The most changes to keep beyond two of each changed row.
  private static var mostRepeated: Int { 1_000 }

  override var isBehind: Bool { !changed.isEmpty || list.isBeginning() }

  /// Whether work of the user rebuilds rows.
  private var isWorking = false

  /// The keys whose rows were not made yet, in order.
  private var unmade: ArraySlice<Key> = []

  override var log: ListLog? { rows }

  /// - Parameter user: The user in whose time the rows are made.
  init(_ list: RowList<Key, Row>, for user: UInt32, _ context: ViewContext) {
    (self.list, self.user) = (list, user)
    super.init(SharedContent.Key(SharedRows.self, list.identity), context)
    observation = list.changes.observeNext { [unowned self] in markChanged($0) }
    unmade = list.keys().inOrder()[...]
    var made: [JSONText] = []
    while let key = unmade.first, keys.count < Self.few.atOnce || !context.isTimeUp() {
      unmade.removeFirst()
      guard let row = row(key) else { continue }
      keys.append(key)
      made.append(row)
    }
    if unmade.isEmpty {
      rows.replace(by: made)
    } else {
      rows.begin(with: made)
      context.addWork(user) { [self] in step() }
    }
  }

  deinit {
    // A view may go on with the list alone.
    if isKnownUniquelyReferenced(&rows) { context.free(rows.removeAll(), user) }
  }

  /// Makes the next rows of a long list.
  private func step() -> Bool {
    // Nobody shows the list any more.
    guard observation != nil else { return false }
    for key in unmade.prefix(Self.few.step) {
      if let last = keys.last, key <= last {
        find([key])
      } else if let row = row(key) {
        keys.append(key)
        rows.grow(by: row)
      }
    }
    unmade = unmade.dropFirst(Self.few.step)
    if unmade.isEmpty { rows.endGrowth() }
    markStale()
    return !unmade.isEmpty
  }

  private func markChanged(_ change: RowList<Key, Row>.Change) {
    switch change {
    case .rows(let new): if !haveAllChanged { changed += new }
    case .all: (changed, haveAllChanged) = ([], true)
    }
    if changed.count > mostChanges {
      changed = Array(Set(changed))
      mostChanges = changed.count * 2 + Self.mostRepeated
    }
    markStale()
  }

  /// Rebuilds the changed rows, as many as there is time for; the others follow in the user's time.
  override func make() {
    if haveAllChanged {
      let all = list.keys()
      let isThere = Set(all)
      (changed, haveAllChanged) = (keys.filter { !isThere.contains($0) } + all, false)
    }
    repeat { rebuildNext() } while !changed.isEmpty && !context.isTimeUp()
    guard !changed.isEmpty, !isWorking else { return }
    isWorking = true
    context.addWork(user) { [self] in goOn() }
  }

  /// Rebuilds more rows, whose views get them at the end of the turn.
  private func goOn() -> Bool {
    if observation != nil, !changed.isEmpty {
      rebuildNext()
      markStale()
    } else {
      changed = []
    }
    isWorking = !changed.isEmpty
    return isWorking
  }

  private func rebuildNext() {
    let count = min(changed.count, Self.changedRows.step)
    var next = Array(changed.suffix(count)).inOrder()
    changed.removeLast(count)
    if changed.isEmpty { mostChanges = Self.mostRepeated }
    next.removeRepetitions()
    if next.count <= Self.changedRows.few { find(next) } else { goThrough(next) }
  }

  private func row(_ key: Key) -> JSONText? { list.row(key).map(context.encoder.shown) }

  /// Rebuilds rows one by one.
  private func find(_ changed: [Key]) {
    for key in changed {
      let index = place(of: key)
      let isThere = index < keys.count && keys[index] == key
      switch (row(key), isThere) {
      case (let row?, true):
        guard rows.elements[index] != row else { break }
        rows.apply([.update(at: index, newElement: row)])
      case (let row?, false):
        keys.insert(key, at: index)
        rows.apply([.insert(row, at: index)])
      case (nil, true):
        keys.remove(at: index)
        rows.apply([.delete(at: index)])
      case (nil, false): break
      }
    }
  }

  /// Returns the index of a row, or the index at which to insert it.
  private func place(of key: Key) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Rebuilds rows in one pass over all of them.
  private func goThrough(_ changed: [Key]) {
    let (oldKeys, oldRows) = (keys, rows.elements)
    var (newKeys, newRows): ([Key], [JSONText]) = ([], [])
    var steps: [ListStep] = []
    var index = 0
    for key in changed {
      while index < oldKeys.count, oldKeys[index] < key {
        newKeys.append(oldKeys[index])
        newRows.append(oldRows[index])
        index += 1
      }
      let old = index < oldKeys.count && oldKeys[index] == key ? oldRows[index] : nil
      if old != nil { index += 1 }
      // Rows before this one are final and rows after it are old, so each step refers to the
      // current index.
      let at = newRows.count
      let new = row(key)
      switch (old, new) {
      case (let old?, let new?):
        if old != new { steps.append(ListStep(at: at, from: old, to: new)) }
      case (nil, let new?): steps.append(ListStep(.insert(new, at: at), in: []))
      case (.some, nil): steps.append(ListStep(.delete(at: at), in: []))
      case (nil, nil): break
      }
      if let new {
        newKeys.append(key)
        newRows.append(new)
      }
    }
    newKeys += oldKeys[index...]
    newRows += oldRows[index...]
    keys = newKeys
    rows.become(newRows, by: steps)
  }
}
