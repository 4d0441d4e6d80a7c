public import JSON
internal import Journal
internal import Model

/// The stored type of an event: a name and the version of its data's form.
///
/// `cells.set` is the first form, `cells.set@2` the second, and so on.
struct EventType: Equatable {
  let name: Substring
  let form: Int

  init(_ text: String) {
    guard let mark = text.utf8.lastIndex(of: UInt8(ascii: "@")),
      let form = Int(text[text.index(after: mark)...]), form > 1
    else {
      (name, self.form) = (text[...], 1)
      return
    }
    (name, self.form) = (text[..<mark], form)
  }

  static func text(_ name: String, form: Int) -> String { form > 1 ? "\(name)@\(form)" : name }

  /// Returns the name without the form.
  static func name(of text: String) -> String {
    text.utf8.contains(UInt8(ascii: "@")) ? String(EventType(text).name) : text
  }
}

/// Converts the data of an event from one form to the next; a pure function.
@usableFromInline
package typealias Upcaster = @Sendable (JSONText) -> JSONText

/// The current and former forms of a service's events.
package struct EventForms: Sendable {
  /// The result of reading a stored event.
  enum Reading: Equatable {
    case event(kind: String, data: JSONText)
    /// The form is unknown; `known` is the highest known form.
    case newer(known: Int)
  }

  /// The conversions for each changed event kind, from each form to the next, the oldest first.
  private let upcasters: [String: [Upcaster]]

  init(_ upcasters: [String: [Upcaster]]) {
    self.upcasters = upcasters
  }

  /// True if no event kind has changed.
  var isEmpty: Bool { upcasters.isEmpty }

  /// Returns the form in which new events of a kind are recorded.
  func present(_ kind: String) -> Int { (upcasters[kind]?.count ?? 0) + 1 }

  /// Returns the name of a stored kind if its form is the current one; otherwise `nil`.
  func presentName(_ kind: Substring) -> String? {
    let type = EventType(String(kind))
    let name = String(type.name)
    return type.form == present(name) ? name : nil
  }

  /// Converts an event to its current form.
  ///
  /// - Parameter kind: The stored kind, including its form.
  func read(_ kind: Substring, _ data: JSONText) -> Reading {
    let type = EventType(String(kind))
    let name = String(type.name)
    let steps = upcasters[name] ?? []
    guard type.form <= steps.count + 1 else { return .newer(known: steps.count + 1) }
    return .event(kind: name, data: steps[(type.form - 1)...].reduce(data) { $1($0) })
  }
}

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
    return upcasters[(snapshot.schema - 1)...].reduce(JSONText(trusted: snapshot.data)) { $1($0) }
  }
}

/// The starting point of a projection or a service.
struct ReplayStart {
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

/// The unknown events of a service, which the replay has skipped.
///
/// The state does not contain them. A snapshot after them would hide them from a newer program,
/// so none may be written.
package struct UnknownKinds: Equatable, Sendable {
  /// The position of the first one.
  package private(set) var first: UInt64?

  /// The number of events of each type.
  package private(set) var counts: [String: Int] = [:]

  mutating func count(_ record: Record) {
    if first == nil { first = record.seq }
    counts[record.type, default: 0] += 1
  }
}
