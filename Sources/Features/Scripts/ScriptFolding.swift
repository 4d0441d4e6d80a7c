internal import EventSourcing
internal import JSON
internal import Signals

/// The past of a service that is folded by another text.
final class ScriptFolding {
  let script: Script
  let work = DisposeBag()

  /// The events that have become durable meanwhile, and that the text folds.
  private(set) var later = Queue<(event: ScriptEvent, place: EventContext)>()

  /// The bytes of these events.
  private var laterBytes = 0

  /// The last event that was dropped because too many had become durable; 0 if none was.
  private var dropped: UInt64 = 0

  /// The state at a position, once it is there.
  private(set) var state: ScriptState?
  private(set) var seq: UInt64 = 0

  /// The last event of other services that the state lacks because it was removed; 0 if none was.
  var removed: UInt64 = 0

  /// The position at which the text took effect; `nil` while it may still be refused.
  var durableAt: UInt64?

  /// Whether the state lacks events that cannot be read.
  var isIncomplete = false

  /// Whether its state takes the place of the present one.
  ///
  /// From then on it cannot be given up.
  var isReplacing = false

  /// Whether it folds nothing, but frees the rows of a service that was forgotten.
  let isRelease: Bool

  init(_ script: Script) { (self.script, isRelease) = (script, false) }

  init(releasing script: Script) { (self.script, isRelease, isReplacing) = (script, true, true) }

  /// Goes on without the events that were dropped.
  func forgetDropped() { dropped = 0 }

  /// Keeps an event that has become durable, unless the text does not fold it.
  ///
  /// If there are too many, they are dropped and read from the journal again.
  func keep(_ event: ScriptEvent, at place: EventContext) {
    // A reader may have seen it first.
    guard place.seq > seq else { return }
    if event.isOther, script.folds(of: event.kind, in: place.stream).isEmpty { return }
    later.append((event, place))
    laterBytes += event.data.text.utf8.count
    guard later.count > Self.mostKept || laterBytes > Self.mostKeptBytes else { return }
    dropped = place.seq
    later.removeAll()
    laterBytes = 0
  }

  /// Uses the state that was read from the journal up to a position.
  func use(_ state: ScriptState, upTo seq: UInt64) {
    (self.state, self.seq) = (state, seq)
    while let first = later.first, first.place.seq <= seq { popLater() }
  }

  /// Removes the first event that has become durable meanwhile.
  ///
  /// - Returns: `nil` if there is none.
  @discardableResult
  func popLater() -> (event: ScriptEvent, place: EventContext)? {
    guard let first = later.popFirst() else { return nil }
    laterBytes -= first.event.data.text.utf8.count
    seq = max(seq, first.place.seq)
    return first
  }

  /// Removes the state, which is held nowhere else.
  func removeState() -> ScriptState? {
    defer { state = nil }
    return state
  }

  /// Applies the events that have become durable meanwhile; returns the fold that has failed.
  ///
  /// Only for a state that lacks no events; see ``lacksEvents``.
  func catchUp() -> StoppedFold? {
    while let (event, place) = popLater() { state?.apply(event, at: place) }
    state?.checkVariables()
    return state?.stopped
  }

  /// The most events that are applied on the loop.
  static let mostLater = 100

  /// The most events, and the most bytes of them, that are kept.
  static let mostKept = 10_000
  static let mostKeptBytes = 4 << 20

  /// Whether the state lacks events that were dropped, so that the journal must be read again.
  var lacksEvents: Bool { state?.stopped == nil && dropped > seq }

  /// Whether events were dropped that are not in the state that has taken the place of the former one.
  var hasDropped: Bool { dropped > seq }

  /// Whether so many events have become durable meanwhile that they are folded off the loop too.
  var isFarBehind: Bool {
    lacksEvents || state?.stopped == nil && later.count > Self.mostLater
  }
}
