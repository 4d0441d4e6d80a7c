internal import JSON
internal import Journal
internal import Model
internal import Signals
internal import Wire

/// The ledgers of a host, by their numbers.
struct HostLedgers {
  private(set) var all: [AnyLedger] = []

  /// The event forms of each service in which an event type has changed.
  private(set) lazy var forms: [String: EventForms] = {
    var forms: [String: EventForms] = [:]
    for ledger in all { forms[ledger.service] = ledger.makeProjection().forms }
    return forms.filter { !$0.value.isEmpty }
  }()

  /// Adds a ledger, and returns its number.
  mutating func add(_ ledger: AnyLedger) -> Int {
    all.append(ledger)
    return all.count - 1
  }
}

/// The command that a host runs, and what its events contain or depend on.
@usableFromInline
struct RunningCommand {
  /// Whether a command is running.
  private(set) var isPerforming = false

  /// The number of commands that have begun.
  private(set) var count: UInt64 = 0

  /// Its user, its idempotency key and its metadata.
  private(set) var origin = EventOrigin(user: Charge.nobody)

  @usableFromInline
  private(set) var user = Charge.nobody

  /// Its time, in microseconds since 1970.
  @usableFromInline
  private(set) var time: Int64 = 0

  /// Whether its caller may record in a stream; `nil` for any stream.
  private var rights: ((_ stream: String) -> Bool)?

  /// Whether ``checkRight(_:)`` must be called for each event.
  ///
  /// This and ``hasFault`` are flags, because a call of a method copies all of this structure.
  private(set) var isRestricted = false

  /// Whether the command fails when it ends; ``checkStreams()`` throws the reason.
  private(set) var hasFault = false

  /// The last event that it has recorded.
  var lastAppended: Appended?

  /// The first stream in which its caller may not record events.
  private var deniedStream: String?

  /// The first reason, found while it recorded, why it fails when it ends.
  private var refusal: Refusal?
  private var origins = OriginTable()

  mutating func begin(_ command: Command, at now: Int64) {
    precondition(!isPerforming, "a command runs within a command")
    isPerforming = true
    count &+= 1
    time = now
    user = command.caller.uid
    if command.hasOwnOrigin {
      origin = EventOrigin(
        user: user, command: command.id,
        meta: origins.meta(command.method, command.caller, command.cause))
    } else {
      // A store to a field that holds a reference costs more than the look at it.
      let known = origins.origin(of: command.method, by: command.caller)
      if known !== origin { origin = known }
    }
    if let mayRecord = command.mayRecord { (rights, isRestricted) = (mayRecord, true) }
    lastAppended = nil
    if hasFault { (deniedStream, refusal, hasFault) = (nil, nil, false) }
  }

  mutating func end() {
    isPerforming = false
    if isRestricted { (rights, isRestricted) = (nil, false) }
  }

  /// Checks that the caller may record in a stream; if not, the command fails when it ends.
  mutating func checkRight(_ name: String) {
    guard let rights, deniedStream == nil, !rights(name) else { return }
    (deniedStream, hasFault) = (name, true)
  }

  /// Checks the name of a new stream; if it is invalid, the command fails when it ends.
  mutating func checkName(_ name: String, of service: String) {
    if refusal == nil, let fault = StreamFault(name, of: service) { refuse(.service(fault)) }
  }

  /// Lets the command fail when it ends.
  mutating func refuse(_ refusal: Refusal) {
    if self.refusal == nil { (self.refusal, hasFault) = (refusal, true) }
  }

  /// - Throws: ``Refusal`` if a stream's name or an event is invalid, or the caller may not record in
  ///   a stream.
  func checkStreams() throws(Refusal) {
    if let refusal { throw refusal }
    if let deniedStream { throw .denied(stream: deniedStream) }
  }
}

/// The leases of a host, and that of the running command.
struct HostLeasing {
  /// The leases; `nil` if there are none, as in most tests.
  var keeper: (any LeaseKeeper)?

  /// Whether leases must know what the running command writes.
  private(set) var isOn = false

  /// Whether the events of leases themselves are recorded.
  private(set) var isRecording = false

  /// The lease of the running command.
  private(set) var lease: String?

  /// The first reason why something that the running command has written cannot end with a lease.
  private var fault: (any ServiceError)?

  /// Whether ``check()`` throws.
  private(set) var hasFault = false

  /// Looks at the events of the running command, which may have a lease.
  mutating func begin(_ lease: String?) {
    (isOn, self.lease, fault, hasFault) = (true, lease, nil, false)
  }

  mutating func end() {
    if isOn { (isOn, lease, fault, hasFault) = (false, nil, nil, false) }
  }

  /// Stops looking at events, because those of leases are recorded; returns whether it did look.
  mutating func beginRecording() -> Bool {
    defer { (isOn, isRecording) = (false, true) }
    return isOn
  }

  mutating func endRecording(_ wasOn: Bool) { (isOn, isRecording) = (wasOn, false) }

  /// Keeps the first fault of the running command.
  mutating func fail(_ fault: (any ServiceError)?) {
    guard isOn, self.fault == nil, let fault else { return }
    (self.fault, hasFault) = (fault, true)
  }

  func check() throws(Refusal) {
    if let fault { throw .service(fault) }
  }
}

/// The recorded events that are not durable yet.
struct WaitingEvents {
  /// The ledger and the user of each event, in order, its bytes and its position.
  private var events = Queue<(ledger: Int32, user: UInt32, bytes: Int, seq: UInt64)>(keeping: 4096)
  private(set) var bytes = 0

  /// Whether new commands should wait, because too many events wait.
  private(set) var areMany = false

  private static let (maxBytes, maxEvents) = (32 << 20, 65_536)

  /// The approximate memory of an event, without its data.
  private static let eventBytes = 160

  var isEmpty: Bool { events.isEmpty }

  private mutating func count(_ change: Int) {
    bytes &+= change
    areMany = bytes > Self.maxBytes || events.count > Self.maxEvents
  }

  mutating func append(by ledger: Int, for user: UInt32, dataBytes: Int, at seq: UInt64) {
    let bytes = Self.eventBytes + dataBytes
    events.append((Int32(truncatingIfNeeded: ledger), user, bytes, seq))
    count(bytes)
  }

  /// Removes the first event if it has a position; returns its ledger and its user.
  mutating func popFirst(at seq: UInt64) -> (ledger: Int, user: UInt32)? {
    guard let (ledger, user, bytes, recorded) = events.first, recorded == seq else { return nil }
    _ = events.removeFirst()
    count(-bytes)
    return (Int(ledger), user)
  }

  /// Removes the events after a position; returns their ledgers.
  mutating func removeAll(after seq: UInt64) -> Set<Int> {
    var ledgers: Set<Int> = []
    while let (ledger, _, bytes, recorded) = events.last, recorded > seq {
      _ = events.popLast()
      count(-bytes)
      ledgers.insert(Int(ledger))
    }
    return ledgers
  }

  mutating func removeAll() {
    events.removeAll()
    count(-bytes)
  }
}

/// The position up to which the services have applied events, and the commit that is reported.
@usableFromInline
struct CommitState {
  /// The last durable position that the services have applied.
  @usableFromInline
  var durable: UInt64 = 0

  /// The last durable position of an event that does not record a reader's position.
  var durableNews: UInt64 = 0

  /// The number of commits since the start, including the one that is being reported.
  private(set) var count: UInt64 = 0

  /// Whether the events of a commit are being reported, one after another.
  var isCommitting = false

  /// The number of states that have taken the place of another one; see ``StateReplacement``.
  var replacements: UInt64 = 0

  mutating func begin() {
    count &+= 1
    isCommitting = true
  }
}

/// The commands that have run before.
struct PastCommands {
  /// Those that have an idempotency key; saved with the snapshots.
  var window = CommandWindow()

  /// Those that were refused.
  var refused = RefusedCommands()

  /// Reads and writes what is kept of them in the journal.
  let coder = EventCoder()
}

/// The signals of a host, and the types of its sources.
struct HostSignals {
  /// The declared types of sources; here, because the host has many properties.
  let types = SourceTypes()

  /// Emits after the declared types have changed.
  let typesChanged = PassthroughSubject<Void, Never>()

  /// Emits durable events, some of a write at a time, after the services have applied them.
  let committed = PassthroughSubject<RecordBatch, Never>()

  /// Emits the reason when recorded events that were not durable are lost.
  let rejected = PassthroughSubject<JournalError, Never>()

  /// Emits when the journal accepts no more writes.
  let failed = PassthroughSubject<JournalError, Never>()

  /// Emits when a quota is nearly exhausted.
  let filling = PassthroughSubject<StateFilling, Never>()

  /// Passes on what the store reports.
  let link = StoreLink()

  /// Charges the time of commits; here, because the host has many properties.
  let meter = CommitMeter()
}

/// Charges the time in which durable events are applied and reported to the users who recorded them.
final class CommitMeter {
  /// Called when a commit begins.
  var begin: () -> Void = {}

  /// Charges a user for the time since the last call of this or of ``begin``.
  var charge: (_ user: UInt32) -> Void = { _ in }
}

/// Passes the reports of a store on to its host.
///
/// The store refers to it weakly. All references to an object with weak ones are counted slowly, and
/// each event needs the host several times.
final class StoreLink: EventStoreDelegate {
  /// The host, which retains this object.
  unowned var host: ServiceHost?

  package func store(committed events: RecordBatch) { host?.store(committed: events) }
  package func store(followed events: RecordBatch) { host?.store(followed: events) }
  package func store(rejected error: JournalError) { host?.store(rejected: error) }
  package func store(failed error: JournalError) { host?.store(failed: error) }
}
