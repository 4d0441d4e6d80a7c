internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The rows of a list in views of files, kept once for all views with the same line and rights.
///
/// A commit only notes which rows have changed. The rows are made in the time of the user who opened
/// the first of the views, one at a time; see ``SlicedWork``.
final class RowTable: SlicedWork {
  /// The most rows of a list.
  static let most = 10_000

  /// The rows, and the bytes of their values, that are made when the first view opens.
  ///
  /// The others follow in slices.
  private static let atOnce = (count: 1_000, bytes: 256 << 10)

  /// The rows, and the bytes of their values, that are made also if the time of the client is over.
  ///
  /// So a short list is there at once.
  static let few = (count: 8, bytes: 16 << 10)

  /// The rows that are freed without a step of work.
  private static let fewFreed = 64

  /// The names that are searched in a step.
  private static let searched = 256

  /// The most steps of a list that wait; with more, all its rows are compared.
  private static let waitingSteps = 64

  /// A row that passes the filter.
  private struct Row {
    let key: RowKey
    let text: JSONText

    /// An estimate of its memory, also of that in the list which views share.
    var bytes: Int { 256 + text.text.utf8.count }
  }

  var isQueued = false
  private let source: RowSource
  private let form: RowForm
  private let user: UInt32
  private let context: ConnectionContext
  private let onEnd: () -> Void
  private var rows: [RowID: Row] = [:]

  /// The keys in their order, if there is a limit.
  private var order: [RowKey] = []

  /// The rows to make.
  private var waiting: [RowID] = []
  private var isWaiting: Set<RowID> = []

  /// Whether the elements must be read again.
  private var isStale = false

  /// Whether the elements that were there when the first view opened are not all read yet.
  private var isBeginning = false
  private var steps: [CollectionChange] = []

  /// The rows that are made at the start although the time of the client is over.
  private var least = 0

  /// The bytes of the values that were read since the start.
  private var readBytes = 0

  /// The rows that are left out because the user's memory is full, or because there are too many.
  private var leftOut: Set<RowID> = []

  /// The number of rows that are left out.
  let missing = Property(0)

  /// The reason why the rows cannot be found, after the first ones.
  let failure = Property<WireError?>(nil)

  /// The bytes of the rows, charged to the user.
  private var heldBytes = 0
  private var observer: AtomicObserver<RowList<RowKey, JSONText>.Change, Never>?

  /// - Parameters:
  ///   - user: The user in whose time rows are made.
  ///   - onEnd: Called when no view needs it any more.
  init(
    _ source: RowSource, _ form: RowForm, for user: UInt32, in context: ConnectionContext,
    onEnd: @escaping () -> Void
  ) {
    (self.source, self.form, self.user, self.context) = (source, form, user, context)
    self.onEnd = onEnd
  }

  deinit { onEnd() }

  /// Whether the ids are names.
  var isNamed: Bool { source.isNamed }

  /// The rows as a list that views can share.
  var list: RowList<RowKey, JSONText> {
    RowList(
      Identity(self), keys: { self.keys }, row: { self.row($0) },
      changes: Signal { observer in
        self.start(observer)
        return BlockDisposable { self.stop() }
      }, isBeginning: { self.isBeginning })
  }

  /// Finds the first rows, unless a view shows them already.
  ///
  /// - Parameter count: The rows to make although the time of the client is over.
  /// - Throws: `too_expensive` if too many names do not match a pattern.
  func prepare(atLeast count: Int) throws(WireError) {
    guard observer == nil else { return }
    least = count
    let isUp = context.isWorkTimeUp
    guard !isUp || count > 0 else { return }
    _ = try source.find(atMost: isUp ? count : Self.atOnce.count)
  }

  /// Returns the row with an id as clients see it; `nil` if there is none.
  ///
  /// A row that was not made yet is made now: an intent may come before the rows of a view.
  func row(id: RowID) -> JSONText? {
    if observer != nil, rows[id] == nil, hasWork, source.canHave(id) {
      if isStale { _ = goOn() }
      isWaiting.remove(id)
      make(id)
    }
    return rows[id].flatMap { isShown($0.key) ? $0.text : nil }
  }

  // MARK: Reading

  private var keys: [RowKey] {
    guard let limit = form.limit else { return rows.values.map(\.key) }
    return Array(order.prefix(limit))
  }

  private func row(_ key: RowKey) -> JSONText? {
    guard let row = rows[key.id], row.key == key, isShown(key) else { return nil }
    return row.text
  }

  private func isShown(_ key: RowKey) -> Bool {
    guard let limit = form.limit, order.count > limit else { return true }
    return key < order[limit]
  }

  // MARK: Changes

  private func start(_ observer: AtomicObserver<RowList<RowKey, JSONText>.Change, Never>) {
    guard self.observer == nil else { return }
    source.observe { [unowned self] in receive($0) }
    readBytes = 0
    if context.isWorkTimeUp, !source.isShort(least) {
      // One of many long values of a view: it is read in a slice.
      isStale = true
    } else {
      source.read()
      wait(for: source.ids)
      var count = 0
      while count < Self.atOnce.count, readBytes < Self.atOnce.bytes,
        count < least && readBytes < Self.few.bytes || !context.isWorkTimeUp, makeNext()
      {
        count += 1
      }
    }
    self.observer = observer
    countMissing()
    isBeginning = hasWork
    if hasWork { context.add(self, for: user) }
  }

  private var hasWork: Bool {
    source.isSearching || isStale || !steps.isEmpty || !waiting.isEmpty
  }

  private func stop() {
    // A client may end with many tables at once.
    let freed = (
      source.stop(), order, waiting, isWaiting, steps, leftOut,
      few: rows.count <= 1_024 ? rows : [:]
    )
    if freed.few.isEmpty { context.free(Array(rows.values), for: user) }
    if rows.count > Self.fewFreed { _ = context.add(for: user) { withExtendedLifetime(freed) {} } }
    observer = nil
    (rows, order, waiting, isWaiting, steps) = ([:], [], [], [], [])
    (isStale, isBeginning) = (false, false)
    (leftOut, missing.value, failure.value) = ([], 0, nil)
    context.charge(-heldBytes, to: user)
    heldBytes = 0
  }

  /// Notes a change.
  private func receive(_ change: RowSource.Change) {
    switch change {
    case .row(let id): wait(for: [id])
    case .all: isStale = true
    case .step(let step):
      if steps.count < Self.waitingSteps { steps.append(step) } else { isStale = true }
    }
    if isStale { steps = [] }
    context.add(self, for: user)
  }

  private func wait(for ids: some Sequence<RowID>) {
    for id in ids where isWaiting.insert(id).inserted { waiting.append(id) }
  }

  /// Reads the elements again, applies a step of the list, makes a row, or searches for more.
  func step() -> Bool {
    guard let observer else { return false }
    let hasMore = goOn()
    if isBeginning, !hasMore {
      isBeginning = false
      // Views that promised more learn that nothing is left.
      observer.receive(.rows([]))
    }
    return hasMore
  }

  private func goOn() -> Bool {
    if isStale {
      isStale = false
      wait(for: source.readChanges())
      countMissing()
    } else if !steps.isEmpty {
      if let ids = source.apply(steps.removeFirst()) {
        wait(for: ids)
      } else {
        // The elements that are read then have the other steps.
        (isStale, steps) = (true, [])
      }
      countMissing()
    } else if !makeNext(), source.isSearching {
      do throws(WireError) {
        wait(for: try source.find(atMost: Self.searched))
      } catch {
        failure.value = error
        return false
      }
    }
    return hasWork
  }

  private func countMissing() {
    let count = leftOut.count + source.beyondCount
    if missing.value != count { missing.value = count }
  }

  private func setLeftOut(_ id: RowID, _ isLeftOut: Bool) {
    if isLeftOut { leftOut.insert(id) } else { leftOut.remove(id) }
    countMissing()
  }

  /// Makes a row that has changed.
  ///
  /// - Returns: Whether there was one.
  private func makeNext() -> Bool {
    guard let id = waiting.popLast() else { return false }
    // An intent may have asked for it before.
    if isWaiting.remove(id) != nil { make(id) }
    return true
  }

  /// Makes a row.
  private func make(_ id: RowID) {
    let old = rows[id]
    let value = source.value(id)
    readBytes += 64 + (value?.text.utf8.count ?? 0)
    var new = value.flatMap { form.row(id, $0) }.map { Row(key: $0.key, text: $0.text) }
    let bytes = (new?.bytes ?? 0) - (old?.bytes ?? 0)
    // A row beyond the memory of the user is not shown.
    let isLeftOut =
      new != nil
      && (old == nil && rows.count >= Self.most
        || (try? context.checkMemory(for: bytes, of: user)) == nil)
    setLeftOut(id, isLeftOut)
    if isLeftOut { new = nil }
    // There is room for one of the others.
    if old != nil, new == nil, !isLeftOut, let next = leftOut.first { wait(for: [next]) }
    guard old?.key != new?.key || old?.text != new?.text else { return }
    rows[id] = new
    let held = (new?.bytes ?? 0) - (old?.bytes ?? 0)
    heldBytes += held
    context.charge(held, to: user)
    var changed = [old?.key, new?.key].compactMap(\.self)
    if form.limit != nil, old?.key != new?.key {
      changed += atLimit
      if let key = old?.key { order.remove(at: place(of: key)) }
      if let key = new?.key { order.insert(key, at: place(of: key)) }
      changed += atLimit
    }
    observer?.receive(.rows(changed))
  }

  /// The keys before and after the limit, which one change may move to its other side.
  private var atLimit: ArraySlice<RowKey> {
    guard let limit = form.limit, order.count >= limit else { return [] }
    return order[(limit - 1)..<min(limit + 1, order.count)]
  }

  /// Returns the index of a key, or the index at which to insert it.
  private func place(of key: RowKey) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension FileViewRegistry {
  /// Returns the table of a line, which is made for the first view.
  ///
  /// - Parameter key: The text of the line with the arguments filled in, and the rights.
  func table(
    _ key: String, _ make: (_ onEnd: @escaping () -> Void) -> RowTable
  ) -> RowTable {
    if let table = object(key) as? RowTable { return table }
    let table = make { [weak self] in self?.remove(key) }
    share(table, as: key)
    return table
  }
}
