public import JSON
public import Model

/// The way in which a ledger reaches the parts of a state: by the names of its sources, or by the
/// numbers of its streams.
///
/// A state chooses it by its protocol: ``ServiceState`` or ``NumberedState``. The functions that run
/// for each event are inlinable, so that the compiler specializes them for the state.
@usableFromInline
package protocol StateLookup<State> {
  associatedtype State: ServiceState

  /// Whether the state needs the names of streams.
  static var needsNames: Bool { get }

  // MARK: One state

  /// Returns the value of a source by its full name, or `nil` if it has none.
  static func value(of source: String, in state: State, _ names: Names) -> JSONText?

  /// Returns whether a source has a value.
  static func has(_ source: String, in state: State, _ names: Names) -> Bool

  /// Returns the names of the sources that have a value, in any order.
  static func sources(of state: State, _ names: Names) -> [String]

  /// Returns the numbers of the names of the sources that have a value, in any order.
  static func numbers(of state: State, _ names: Names) -> [Int]

  /// Whether the sources that an event changes depend on the state before it.
  static var dependsOnState: Bool { get }

  /// Returns the sources whose values an event may change; `nil` if they depend on the state before
  /// it.
  static func sources(changedBy event: State.Event, at place: EventContext) -> [String]?

  /// Applies an event to a state of its own, outside of a ledger, and returns its changes.
  ///
  /// - Parameters:
  ///   - known: The values of derived sources in the state.
  ///   - isWanted: Whether the changes of a source are wanted; others may be left out.
  static func apply(
    _ event: State.Event, at place: EventContext, to state: inout State, _ known: DerivedValues,
    where isWanted: (String) -> Bool
  ) -> [SourceChange]

  // MARK: Rows

  /// See ``ServiceState/restoresRows``.
  static var restoresRows: Bool { get }

  /// Applies an event to a state of its own, outside of a ledger, and returns the rows that it has
  /// written.
  ///
  /// - Parameter choose: Gets the places of the rows, and returns which of them are read.
  static func writes(
    of event: State.Event, at place: EventContext, in state: inout State,
    _ choose: (EventWrites) -> (RowPlace) -> Bool
  ) -> [RowWrite]

  /// Returns a stored row; `nil` if there is none.
  static func row(at place: RowPlace, in state: State) -> JSONText?

  /// Returns the names of a row; `nil` if the state has no rows.
  static func named(_ place: RowPlace, in state: State) -> NamedPlace?

  // MARK: Recorded events

  /// Records an event, so that it takes effect in the pending state.
  static func record(
    _ event: State.Event, _ kind: String, in stream: Stream,
    _ ledger: some PendingState<State>)

  /// Undoes the last recorded event.
  ///
  /// - Returns: Whether the pending state is as before the event.
  static func revert(
    _ inverse: State.Inverse?, at place: EventContext, _ ledger: some PendingState<State>
  ) -> Bool

  /// Makes the pending state the durable one, to apply the recorded events again.
  static func restart(_ ledger: some PendingState<State>)

  /// Applies a recorded event again; see ``restart(_:)``.
  static func reapply(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>)

  /// Returns the pending value of a source by its full name, or `nil` if it has none.
  static func pendingValue(of source: String, _ ledger: some PendingState<State>) -> JSONText?

  /// Returns the bytes of pending state that are charged to a stream.
  static func size(of stream: Int, _ ledger: some PendingState<State>) -> Int

  /// Returns the bytes of pending state that belong to the stream of a service which has no events there.
  ///
  /// - Parameter initial: The state before the first event.
  static func sizeWithoutStream(
    of service: String, from initial: State, _ ledger: some PendingState<State>
  ) -> Int

  /// Returns whether the pending state keeps nothing of a stream.
  static func isEmpty(_ stream: Int, _ ledger: some PendingState<State>) -> Bool

  /// Returns whether there is something that a removal would remove.
  static func has(
    toRemove removal: State.Event, in stream: Int, _ ledger: some PendingState<State>
  ) -> Bool

  // MARK: Durable events

  /// Begins with the state after the replay.
  static func start(_ state: State, _ ledger: some PendingState<State>)

  /// Applies a durable event to the committed state, and reports the changes of its sources.
  static func show(_ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>)

  /// Applies a durable event to the committed state, if nobody observes the source that it changes.
  ///
  /// - Returns: Whether it did; otherwise ``show(_:at:_:)`` must.
  static func showUnseen(
    _ event: State.Event, in stream: Int, _ ledger: some PendingState<State>
  ) -> Bool

  /// Returns the rule that an event of another daemon breaks, or `nil` if it is valid.
  static func fault(
    of event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> String?

  /// Applies an event of another daemon to the pending state.
  static func follow(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> FollowedEffect

  /// Applies an event of another service to the pending state.
  static func followOther(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> FollowedEffect

  /// Returns a function for durable values by number; `nil` if the state is not by number.
  static func numberedValue<Holder: PendingState<State>>(
    of type: Holder.Type
  ) -> ((Holder, Int) -> JSONText?)?
}

extension StateLookup {
  @usableFromInline
  package static var dependsOnState: Bool { false }

  /// By default there are no rows.
  @usableFromInline
  package static var restoresRows: Bool { false }

  @usableFromInline
  package static func writes(
    of event: State.Event, at place: EventContext, in state: inout State,
    _ choose: (EventWrites) -> (RowPlace) -> Bool
  ) -> [RowWrite] {
    state.apply(event, at: place)
    return []
  }

  @usableFromInline
  package static func row(at place: RowPlace, in state: State) -> JSONText? { nil }
  @usableFromInline
  package static func named(_ place: RowPlace, in state: State) -> NamedPlace? { nil }

  /// By default every part of the state belongs to a stream that has events.
  @usableFromInline
  package static func sizeWithoutStream(
    of service: String, from initial: State, _ ledger: some PendingState<State>
  ) -> Int { 0 }

  /// By default a state consists of events of its own service.
  @usableFromInline
  package static func followOther(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) -> FollowedEffect { FollowedEffect() }

  /// By default all events are shown in the same way.
  @inlinable
  package static func showUnseen(
    _ event: State.Event, in stream: Int, _ ledger: some PendingState<State>
  ) -> Bool { false }

  @usableFromInline
  package static func restart(_ ledger: some PendingState<State>) {
    ledger.pending = ledger.committed
  }

  @usableFromInline
  package static func reapply(
    _ event: State.Event, at place: EventContext, _ ledger: some PendingState<State>
  ) {
    ledger.pending.apply(event, at: place)
  }

  @usableFromInline
  package static func apply(
    _ event: State.Event, at place: EventContext, to state: inout State, _ known: DerivedValues,
    where isWanted: (String) -> Bool
  ) -> [SourceChange] {
    func present(_ source: String) -> SourceChange {
      SourceChange(
        source: source, seq: place.seq, value: value(of: source, in: state, place.numbered.names))
    }
    guard State.isCollection else {
      state.apply(event, at: place)
      return State.sources(changedBy: event, at: place).filter(isWanted).map(present)
    }
    let changes = state.changes(by: event, at: place).filter { isWanted($0.source) }
    state.apply(event, at: place)
    return changes.map { $0.step == nil ? present($0.source) : $0 }
  }
}

/// The state of one service with its recorded events, as ``StateLookup`` sees it: a ``Ledger``.
@usableFromInline
package protocol PendingState<State>: AnyObject {
  associatedtype State: ServiceState

  /// The pending state, including all recorded events; unused by a state by number.
  var pending: State { get set }

  /// The durable state.
  var committed: State { get set }

  /// The names of all streams.
  var streamNames: Names { get }

  /// Returns the stream with a number.
  func stream(_ number: Int) -> Stream

  // MARK: Recorded events

  /// Appends an event to the journal and to the recorded events.
  ///
  /// - Returns: Its place, and whether its stream is charged nothing.
  func append(
    _ event: State.Event, _ kind: String, inverse: State.Inverse?, in stream: Stream,
    growing bytes: Int
  ) -> (place: EventContext, isBare: Bool)

  /// Returns the recorded event at a position; `nil` if it is durable or of another service.
  func pendingEvent(at seq: UInt64) -> State.Event?

  /// Returns the position of the last event of a stream if it is not durable; otherwise `nil`.
  func pendingPosition(of stream: Int) -> UInt64?

  /// Returns the bytes of pending state that are charged to a stream; `nil` if it is not charged.
  func chargedSize(of stream: Int) -> Int?

  /// Charges a stream for more bytes.
  ///
  /// - Returns: Whether it is charged nothing any more; `nil` if nothing has changed.
  func grow(_ stream: Int, by bytes: Int) -> Bool?

  /// Ends the charge for a stream if it has no state after the last recorded event.
  func releaseEmpty(_ stream: Int)

  /// The effect of events on tables; used by states that have some.
  var tables: TableReport { get }

  // MARK: Durable events

  /// Whether a change of some source is observed.
  var isWatched: Bool { get }

  func isWatched(_ source: String) -> Bool
  func isWatched(_ number: Int) -> Bool

  /// Reports a change to those who observe its source.
  func send(_ change: SourceChange)

  /// Updates whether a source has a value.
  func updateName(_ source: String, isThere: Bool)
  func updateName(_ number: Int, isThere: Bool)
}

/// The effect of another daemon's event on the charges of streams.
@usableFromInline
package struct FollowedEffect {
  /// The bytes to add to the charge of the event's stream.
  var growth = 0

  /// The bytes to add to the charges of other streams.
  var others: [(stream: Int, growth: Int)] = []

  /// The streams of these that have no state any more.
  var released: [Int] = []

  /// The reason why the state cannot follow; `nil` if it does.
  var fault: String?
}
