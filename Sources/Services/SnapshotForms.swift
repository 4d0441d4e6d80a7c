internal import JSON
internal import Journal

/// The forms in which a state has been kept in snapshots, counted from 1.
struct SnapshotForms: Sendable {
  /// What brings each form to the next, the first one first.
  private let upcasters: [Upcaster]

  init(_ upcasters: [Upcaster]) {
    self.upcasters = upcasters
  }

  /// The form in which snapshots are written.
  var present: Int { upcasters.count + 1 }

  /// What a snapshot says, in the present form; `nil` when its own is not known here.
  func read(_ snapshot: Snapshot) -> JSONText? {
    guard 1...present ~= snapshot.schema else { return nil }
    return upcasters[(snapshot.schema - 1)...].reduce(JSONText(kept: snapshot.data)) { $1($0) }
  }
}

/// What a fold or a service begins with.
struct Beginning {
  /// The position of the snapshot that was taken over; 0 when there was none.
  let position: UInt64

  /// A newer one that could not be, and why.
  let unread: (snapshot: Snapshot, reason: String)?

  /// Takes over the newest snapshot that reads back.
  ///
  /// - Parameters:
  ///   - seq: It contains nothing after this position.
  ///   - form: The form that is known.
  ///   - load: The newest snapshot up to a position.
  ///   - start: Takes one over and returns whether it reads back.
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
            ? "the snapshot of \(snapshot.service) at \(snapshot.seq) does not read back"
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
