package import JSON
internal import Journal

/// An event as readers get it: a durable ``Record`` in the newest form of its type, without the
/// metadata of its command.
package struct JournalEvent: Equatable, Sendable {
  package let seq: UInt64

  /// The type, for example `"cells.set"`.
  package let type: String

  /// The stream, for example `"cells/lamp"`.
  package let stream: String

  /// The position in the stream, from 1.
  package let version: UInt64

  /// The time in microseconds since 1970.
  package let time: Int64
  package let data: JSONText

  /// The idempotency key of the command that recorded the event; `nil` if the client gave none.
  package let command: String?

  /// Creates an event from a record and converts it to its current form, if the form is known.
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
