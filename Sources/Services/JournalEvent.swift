package import JSON
internal import Journal

/// An event as it is shown to those who read the journal.
package struct JournalEvent: Equatable, Sendable {
  package let seq: UInt64

  /// For example `"cells.set"`.
  package let type: String

  /// For example `"cells/lamp"`.
  package let stream: String

  /// Its place in its stream.
  package let version: UInt64

  /// Microseconds since 1970.
  package let time: Int64
  package let data: JSONText

  /// The identity of the command that caused it, if the client gave one.
  package let command: String?

  /// An event as it was kept, or in its present form where that is known.
  init(_ record: Record, _ forms: [String: EventForms] = [:]) {
    seq = record.seq
    var (type, data) = (record.type, JSONText(kept: record.data))
    if !forms.isEmpty, let forms = forms[record.service], let dot = type.firstIndex(of: "."),
      case .event(let kind, let present) = forms.read(type[dot...].dropFirst(), data)
    {
      (type, data) = ("\(type[..<dot]).\(kind)", present)
    }
    self.type = type
    self.data = data
    stream = record.stream
    version = record.version
    time = record.time
    command = record.command
  }
}

/// Events that follow each other.
package struct EventPage: Equatable, Sendable {
  /// Those that are wanted, oldest first.
  package let events: [JournalEvent]

  /// The position up to which there are no others; for a page that was read backward, down to which.
  package let end: UInt64

  /// Positions before the end, after what was known, whose events were removed; known of pages that
  /// were read forward.
  package let holes: [ClosedRange<UInt64>]

  init(events: [JournalEvent], end: UInt64, holes: [ClosedRange<UInt64>] = []) {
    (self.events, self.end, self.holes) = (events, end, holes)
  }
}
