internal import JSON
internal import Journal
internal import Model
internal import Signals

/// The host's view of a ledger; it retains the ledger.
final class AnyLedger {
  let service: String

  /// See ``Ledger``: whether its events only record reader positions.
  let isAboutReaders: Bool

  /// See ``Projection/snapshotForm``.
  let snapshotForm: Int

  /// Loads a snapshot and returns whether it was readable.
  let start: (Snapshot) -> Bool

  /// Applies a record from before this start, of the stream with a number; returns the reason if
  /// the start must fail.
  let replay: (Record, _ stream: Int) -> JournalError?

  /// Called after all records from before this start were applied.
  let finishReplay: () -> Void

  /// The sizes of the state, for the quota.
  let sizes: Sizes

  /// Called when the oldest recorded event is durable.
  let commit: () -> Void

  /// See ``Ledger/apply(_:_:_:)``.
  let apply: Apply

  typealias Apply = (
    Record, _ stream: Int, _ note: (FollowedEffect) -> Void
  ) throws(JournalError) -> Void

  /// Called when all records after a position are lost or rolled back.
  let discard: (UInt64) -> Void

  /// Called within a command to remove what was written under a lease.
  let remove: (LeasedPart) -> Void

  /// The events of other services that the state consists of.
  let foreign: Foreign

  /// See ``Ledger/changes(matching:)``.
  let changes: (Pattern) -> Signal<SourceChange, Never>

  /// See ``Ledger/feed(of:)``.
  let feed: (Pattern) -> any ChangeFeed

  /// See ``Ledger/snapshot()``.
  let snapshot: () -> @Sendable (_ durable: UInt64) -> Snapshot

  /// The events that the durable state lacks.
  let gaps: Gaps

  /// The rows of its tables; `nil` if they cannot be undone.
  let rows: Rows?

  /// Why its events could not be replayed, if it was added after the others; `nil` if they were.
  var startFault: JournalError?

  /// Whether the state has all events; otherwise no snapshot may hide them, and none is removed.
  var isComplete = true

  /// Whether snapshots of it are written.
  var isKept: Bool {
    isComplete && startFault == nil && gaps.isWhole() && gaps.unknown().first == nil
  }

  /// Makes an empty projection of the service's state, on any thread.
  var makeProjection: @Sendable () -> any Projection

  init(
    service: String, isAboutReaders: Bool, snapshotForm: Int,
    start: @escaping (Snapshot) -> Bool, replay: @escaping (Record, Int) -> JournalError?,
    finishReplay: @escaping () -> Void, sizes: Sizes,
    commit: @escaping () -> Void, apply: @escaping Apply,
    discard: @escaping (UInt64) -> Void, remove: @escaping (LeasedPart) -> Void,
    foreign: Foreign,
    changes: @escaping (Pattern) -> Signal<SourceChange, Never>,
    feed: @escaping (Pattern) -> any ChangeFeed,
    snapshot: @escaping () -> @Sendable (UInt64) -> Snapshot, gaps: Gaps, rows: Rows?,
    makeProjection: @escaping @Sendable () -> any Projection
  ) {
    self.service = service
    self.isAboutReaders = isAboutReaders
    self.snapshotForm = snapshotForm
    self.start = start
    self.replay = replay
    self.finishReplay = finishReplay
    self.sizes = sizes
    self.commit = commit
    self.apply = apply
    self.discard = discard
    self.remove = remove
    self.foreign = foreign
    self.changes = changes
    self.feed = feed
    self.snapshot = snapshot
    self.gaps = gaps
    self.rows = rows
    self.makeProjection = makeProjection
  }
}

extension AnyLedger {
  /// The events of other services that a state consists of.
  struct Foreign {
    /// Called within a command with such an event.
    let follow: (RoutedEvent) -> FollowedEffect
    let events: () -> OtherEvents
  }

  /// The rows of the tables of a state.
  struct Rows {
    /// Returns a stored row of the pending state; `nil` if there is none.
    let row: (RowPlace) -> JSONText?
    let named: (RowPlace) -> NamedPlace?

    /// Records the event that sets rows back in the stream with a name.
    let restore: (RestoredRows, _ stream: String) -> Void
  }

  /// The events that a state lacks.
  struct Gaps {
    /// Returns the service's events that this program does not know.
    let unknown: () -> UnknownKinds

    /// See ``ServiceState/isWhole``.
    let isWhole: () -> Bool
  }

  /// The sizes of a state in bytes of JSON, by the numbers of streams.
  struct Sizes {
    /// See ``ServiceState/size(of:)``.
    let ofStream: (Int) -> Int

    /// See ``StateLookup/sizeWithoutStream(of:from:_:)``.
    let withoutStream: () -> Int

    /// Whether the state keeps nothing of a stream.
    let isEmpty: (Int) -> Bool
  }
}
