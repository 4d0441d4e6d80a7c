internal import Facts
internal import JSON
internal import Journal

/// The current and former snapshot forms of a state, counted from 1.
struct SnapshotForms: Sendable {
  /// The conversions from each form to the next, the oldest first.
  private let upcasters: [Upcaster]

  init(_ upcasters: [Upcaster]) {
    self.upcasters = upcasters
  }

  /// The form in which snapshots are written.
  var present: Int { upcasters.count + 1 }

  /// Converts a snapshot's data to the current form; returns `nil` if its form is unknown.
  func read(_ snapshot: Snapshot) -> JSONText? {
    guard 1...present ~= snapshot.schema else { return nil }
    return upcasters[(snapshot.schema - 1)...].reduce(JSONText(kept: snapshot.data)) { $1($0) }
  }
}

/// The starting point of a projection or a service.
struct Beginning {
  /// The position of the loaded snapshot; 0 if there was none.
  let position: UInt64

  /// The newest snapshot that could not be loaded, with the reason; `nil` if there was none.
  let unread: (snapshot: Snapshot, reason: String)?

  /// Loads the newest readable snapshot.
  ///
  /// - Parameters:
  ///   - seq: The latest position of the snapshot.
  ///   - form: The newest known form.
  ///   - load: Returns the newest snapshot at or before a position.
  ///   - start: Loads a snapshot and returns whether it was readable.
  init(
    upTo seq: UInt64, form: Int, _ load: (UInt64) throws(JournalError) -> Snapshot?,
    _ start: (Snapshot) -> Bool
  ) throws(JournalError) {
    var end = seq
    var unread: (Snapshot, String)?
    while let snapshot = try load(end) {
      if start(snapshot) {
        (position, self.unread) = (snapshot.seq, unread)
        return
      }
      if unread == nil {
        let isKnown = 1...form ~= snapshot.schema
        unread = (
          snapshot,
          isKnown
            ? "the snapshot of \(snapshot.service) at \(snapshot.seq) cannot be read"
            : "\(snapshot.service) has a snapshot of form \(snapshot.schema), "
              + "this program reads \(form)"
        )
      }
      guard snapshot.seq > 0 else { break }
      end = snapshot.seq - 1
    }
    (position, self.unread) = (0, unread)
  }
}
