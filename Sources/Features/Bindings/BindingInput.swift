internal import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// The sources that bindings read, by user.
///
/// A change costs the commit the same, however many bindings of a user read the source. The bindings
/// pass it on in the time of their user; see ``SlicedWork``.
final class BindingInputs {
  fileprivate struct Key: Hashable {
    let user: UInt32
    let provider: ObjectIdentifier
    let source: String
  }

  /// The bytes of the changes of a user's inputs that not all bindings have passed on.
  fileprivate final class Backlog {
    /// The bytes above which a new change of a source replaces the last one: about those of a
    /// commit.
    static let most = 32 << 20
    var bytes = 0
    var inputs = 0

    /// The number of sources with changes that not all bindings have passed on.
    var unfinished = 0
  }

  let context: ConnectionContext
  private var inputs: [Key: BindingInput] = [:]
  private var backlogs: [UInt32: Backlog] = [:]

  /// Called when all changes for a user have been passed on.
  var onFinish: (_ user: UInt32) -> Void = { _ in }

  /// Whether not all bindings of a user have passed on all changes.
  func isUnfinished(of user: UInt32) -> Bool { backlogs[user].map { $0.unfinished > 0 } ?? false }

  /// Called when all changes of one source have been passed on.
  var onInputFinish: () -> Void = {}

  /// Called for each change of a source, with its position, while effects are followed.
  var onChange: ((BindingInput, _ source: String, _ seq: UInt64) -> Void)?

  /// Whether all changes have been passed on.
  var isFinished: Bool { backlogs.values.allSatisfy { $0.unfinished == 0 } }

  init(in context: ConnectionContext) { self.context = context }

  /// Calls `receive` with changes of a source from now on, in the time of a user.
  ///
  /// - Parameters:
  ///   - source: The source, and the results that are prepared for a long value.
  ///   - isEach: Whether it gets each change. Otherwise it gets the newest one after each commit. A
  ///     list or map has its newest value in both cases.
  ///   - passingLong: Whether it gets the present value too, as a change; for long values.
  func observe(
    _ source: SourceReading.Source, for user: UInt32, isEach: Bool, passingLong: Bool = false,
    _ access: Access, _ receive: @escaping (BindingInput, BindingInput.Change) -> Void
  ) -> any Disposable {
    let key = Key(
      user: user, provider: ObjectIdentifier(source.provider), source: source.name)
    let input = inputs[key] ?? add(key, source.provider, access)
    let reader = input.add(isEach: isEach, source.prepared, receive)
    if passingLong { input.passPresent(to: reader) }
    return BlockDisposable { [self] in
      guard input.remove(reader), inputs.removeValue(forKey: key) != nil else { return }
      guard let backlog = backlogs[user] else { return }
      backlog.inputs -= 1
      if backlog.inputs == 0 { backlogs[user] = nil }
    }
  }

  private func add(_ key: Key, _ provider: SourceProvider, _ access: Access) -> BindingInput {
    let backlog = backlogs[key.user] ?? Backlog()
    backlogs[key.user] = backlog
    backlog.inputs += 1
    let input = BindingInput(key, provider, access, backlog, in: self)
    inputs[key] = input
    return input
  }
}

/// A source that bindings of one user read.
final class BindingInput: SlicedWork {
  /// A change of the source.
  struct Change {
    /// The number among the changes of this input, from 1 on.
    fileprivate let number: UInt64

    /// The position of the event; 0 if the source is not journaled.
    let seq: UInt64

    /// The value; `nil` if there is none, or if it is a list or map.
    fileprivate let text: JSONText?
    fileprivate let isStep: Bool

    /// The reader for which the present value is passed on as a change; `nil` for a change.
    fileprivate var only: Reader?

    fileprivate var size: Int { 64 + (text?.text.utf8.count ?? 0) }
  }

  /// A direction of a binding that reads the source.
  final class Reader {
    fileprivate let receive: (BindingInput, Change) -> Void
    fileprivate let isEach: Bool

    /// The fold whose result is prepared for a long list; `nil` if there is none.
    fileprivate let prepared: PreparedResults?

    /// The number of the last change that it has seen.
    fileprivate var seen: UInt64
    fileprivate var place: Int

    fileprivate init(
      isEach: Bool, seen: UInt64, place: Int, _ prepared: PreparedResults?,
      _ receive: @escaping (BindingInput, Change) -> Void
    ) {
      (self.isEach, self.seen, self.place) = (isEach, seen, place)
      (self.prepared, self.receive) = (prepared, receive)
    }
  }

  /// Readers in the order in which they were added.
  private struct Readers {
    /// The readers; `nil` for removed ones.
    var slots: [Reader?] = []
    var count = 0

    /// The slot that is next.
    var next = 0

    mutating func add(_ reader: Reader) {
      slots.append(reader)
      count += 1
    }

    mutating func remove(_ reader: Reader) {
      slots[reader.place] = nil
      count -= 1
      guard slots.count > 2 * count + 16 else { return }
      next = slots[..<min(next, slots.count)].count { $0 != nil }
      slots.removeAll { $0 == nil }
      for (place, reader) in slots.enumerated() { reader?.place = place }
    }
  }

  var isQueued = false
  private let key: BindingInputs.Key
  private let provider: SourceProvider
  private let access: Access
  private let backlog: BindingInputs.Backlog
  private unowned let all: BindingInputs
  private var observation: (any Disposable)?
  private var changeCount: UInt64 = 0

  /// The readers that get each change, and the changes that not all of them have seen.
  private var each = Readers()
  private var changes = Queue<Change>()

  /// The readers that get the newest change after a commit, and how many slots may not have seen it.
  private var newest = Readers()
  private var last: Change?
  private var unseen = 0

  /// Whether the last step was for a reader that gets each change.
  private var wasEach = false

  /// Whether a fold is under way, for the next reader of that kind.
  private var isFolding = false

  /// Whether it counts as unfinished.
  private var isUnfinished = false

  /// The long values that are passed on to readers of the two kinds; `nil` if there is none.
  private var (longOfEach, longOfNewest): (LongValue?, LongValue?)

  /// The long value for the kind of readers that is served.
  private var long: LongValue? {
    get { wasEach ? longOfEach : longOfNewest }
    set { if wasEach { longOfEach = newValue } else { longOfNewest = newValue } }
  }

  fileprivate init(
    _ key: BindingInputs.Key, _ provider: SourceProvider, _ access: Access,
    _ backlog: BindingInputs.Backlog, in all: BindingInputs
  ) {
    (self.key, self.provider, self.access) = (key, provider, access)
    (self.backlog, self.all) = (backlog, all)
    observation = provider.changes(key.source).observeNext { [unowned self] in receive($0) }
  }

  // MARK: Readers

  fileprivate func add(
    isEach: Bool, _ prepared: PreparedResults?, _ receive: @escaping (BindingInput, Change) -> Void
  ) -> Reader {
    let place = isEach ? each.slots.count : newest.slots.count
    let reader = Reader(isEach: isEach, seen: changeCount, place: place, prepared, receive)
    if isEach { each.add(reader) } else { newest.add(reader) }
    if !isEach, unseen > 0 { unseen = newest.slots.count }
    return reader
  }

  /// Passes the present value, which is long, to a new reader, as a change.
  fileprivate func passPresent(to reader: Reader) {
    changeCount += 1
    // A list or map has its newest value when its turn comes; any other value is that of now.
    let isCollection = provider.collection(key.source) != nil
    var change = Change(
      number: changeCount, seq: access.host.durable,
      text: isCollection ? nil : provider.value(key.source), isStep: isCollection)
    if reader.isEach {
      change.only = reader
      append(change)
    } else {
      for other in newest.slots {
        guard let other, other !== reader, other.seen == changeCount - 1 else { continue }
        other.seen = changeCount
      }
      (last, unseen) = (change, newest.slots.count)
    }
    updateProgress()
    all.context.add(self, for: key.user)
  }

  /// Returns whether it was the last reader.
  fileprivate func remove(_ reader: Reader) -> Bool {
    reader.prepared?.clear()
    isFolding = false
    if reader.isEach { each.remove(reader) } else { newest.remove(reader) }
    unseen = unseen > 0 ? newest.slots.count : 0
    if each.count == 0 { dropChanges() }
    if newest.count == 0 { (last, unseen) = (nil, 0) }
    updateProgress()
    guard each.count == 0, newest.count == 0 else { return false }
    observation?.dispose()
    observation = nil
    return true
  }

  private func dropChanges() {
    for change in changes { backlog.bytes -= change.size }
    changes = Queue()
    each.next = 0
  }

  // MARK: Changes

  private func receive(_ change: SourceChange) {
    changeCount += 1
    all.onChange?(self, key.source, change.seq)
    let change = Change(
      number: changeCount, seq: change.seq, text: change.value, isStep: change.step != nil)
    if each.count > 0 { append(change) }
    if newest.count > 0 { (last, unseen) = (change, newest.slots.count) }
    updateProgress()
    all.context.add(self, for: key.user)
    // After a commit, ``LiveBindings`` starts the work.
    if !access.host.isCommitting { all.context.work() }
  }

  private func append(_ change: Change) {
    // Several changes then count as one, as after a restart.
    if change.only == nil, backlog.bytes + change.size > BindingInputs.Backlog.most,
      changes.count > 1 || each.next == 0, let last = changes.popLast()
    {
      backlog.bytes -= last.size
    }
    changes.append(change)
    backlog.bytes += change.size
  }

  /// Returns the long value after a change that was decoded in steps; `nil` if it was not.
  private func long(after change: Change) -> LongValue? {
    change.isStep || long?.number == change.number ? long : nil
  }

  /// Returns the value after a change; a list or map has its present value, or the one that was
  /// decoded in steps.
  func value(after change: Change) -> JSONValue? {
    let parts = access.catalog.parts
    if let long = long(after: change) { return long.value }
    guard change.isStep else { return change.text.map { parts.decoded($0) } }
    let text = parts.value(of: key.source, at: access.host.durable) { provider.value(key.source) }
    return text.map { parts.decoded($0) }
  }

  /// Returns the position of the value after a change; 0 if the source is not journaled.
  func position(of change: Change) -> UInt64 {
    change.isStep && change.seq > 0 ? long?.position ?? access.host.durable : change.seq
  }

  /// Passes one change to one reader, or decodes or prepared a part of a long list or map.
  func step() -> Bool {
    // They alternate, so that neither waits for the other.
    if !isFolding { wasEach = !changes.isEmpty && !(wasEach && unseen > 0) }
    guard isDecoded(for: wasEach ? changes.first : last) else { return true }
    if wasEach { stepEach() } else { stepNewest() }
    if !wasEach, unseen == 0 {
      if isNewer { unseen = newest.slots.count } else { last = nil }
      dropLong()
    }
    updateProgress()
    return isUnfinished
  }

  /// Decodes a part of the value after a change if it is long.
  ///
  /// Readers of the newest change get a value that was decoded while newer changes came; otherwise
  /// many changes would keep all values from them.
  ///
  /// - Returns: Whether the value is there.
  private func isDecoded(for change: Change?) -> Bool {
    guard let change else { return true }
    if wasEach, let number = long?.number, change.number > number { dropLong() }
    if long == nil {
      long =
        change.isStep
        ? LongValue(of: key.source, provider, number: changeCount, at: access.host.durable)
        : LongValue(change.text, number: change.number, at: change.seq)
    }
    guard long?.isComplete == false else { return true }
    self.long?.step()
    return false
  }

  /// Frees both decoded values in the time of the user.
  private func dropAllLong() {
    for kind in [true, false] {
      wasEach = kind
      dropLong()
    }
  }

  /// Frees the decoded value for the kind of readers that is served, in the time of the user.
  private func dropLong() {
    guard let (values, members) = long?.parts() else { return }
    long = nil
    all.context.free(values, for: key.user)
    all.context.free(members, for: key.user)
  }

  private func stepEach() {
    while let change = changes.first {
      while each.next < each.slots.count {
        guard let reader = each.slots[each.next], reader.seen < change.number else {
          each.next += 1
          continue
        }
        let isMeant = change.only.map { $0 === reader } ?? true
        if isMeant, isFolding(change, for: reader) { return }
        each.next += 1
        reader.seen = change.number
        if isMeant { return pass(change, to: reader) }
      }
      _ = changes.popFirst()
      backlog.bytes -= change.size
      each.next = 0
      // The long value that is there is that of the change before.
      if longOfEach != nil { return }
    }
  }

  private func stepNewest() {
    while unseen > 0, let last = newestChange {
      if newest.next >= newest.slots.count { newest.next = 0 }
      let reader = newest.slots[newest.next]
      if let reader, reader.seen < last.number, isFolding(last, for: reader) { return }
      newest.next += 1
      unseen -= 1
      guard let reader, reader.seen < last.number else { continue }
      reader.seen = last.number
      return pass(last, to: reader)
    }
    if !isNewer { last = nil }
  }

  /// Computes a part of the results of a reader for a long value.
  ///
  /// - Returns: Whether parts are left.
  private func isFolding(_ change: Change, for reader: Reader) -> Bool {
    isFolding = false
    guard let long = long(after: change), let prepared = reader.prepared else { return false }
    isFolding = prepared.step(over: long.value)
    return isFolding
  }

  private func pass(_ change: Change, to reader: Reader) {
    reader.receive(self, change)
    reader.prepared?.clear()
  }

  /// Whether a change has come while the value was decoded that readers of the newest one get.
  private var isNewer: Bool {
    guard let last, let number = longOfNewest?.number else { return false }
    return last.number > number
  }

  /// The change that readers of the newest one get; `nil` if there is none.
  private var newestChange: Change? {
    guard let last, let long = longOfNewest, long.number < last.number else { return last }
    return Change(number: long.number, seq: long.position, text: nil, isStep: true)
  }

  private func updateProgress() {
    let isUnfinished = !changes.isEmpty || unseen > 0
    guard isUnfinished != self.isUnfinished else { return }
    self.isUnfinished = isUnfinished
    if !isUnfinished {
      last = nil
      dropAllLong()
    }
    backlog.unfinished += isUnfinished ? 1 : -1
    if backlog.unfinished == 0 { all.onFinish(key.user) }
    if !isUnfinished { all.onInputFinish() }
  }

  /// Whether all changes have been passed on.
  var isFinished: Bool { !isUnfinished }
}
