package import JSON
internal import Journal
package import Model

/// An event as readers get it: a durable ``Record`` in the newest form of its type.
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

  /// The metadata of its command, JSON.
  private let meta: String?

  /// Creates an event from a record and converts it to its current form, if the form is known.
  init(_ record: Record, _ forms: [String: EventForms] = [:]) {
    seq = record.seq
    var (type, data) = (record.type, JSONText(trusted: record.data))
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
    meta = record.meta
  }

  /// The process and the method that recorded the event; `nil` if the journal does not say.
  package var origin: Origin? {
    decodedMeta.map { Origin(uid: $0.uid, pid: $0.pid, program: $0.program, method: $0.method) }
  }

  /// The cause of the event; `nil` if its process began it, or the journal does not say.
  package var cause: Command.Cause? { decodedMeta?.cause }

  private var decodedMeta: Meta? {
    meta.flatMap { EventCoder().value(Meta.self, of: JSONText(trusted: $0)) }
  }

  /// The process and the method that recorded an event.
  package struct Origin: Equatable, Codable, Sendable {
    package let uid: UInt32
    package let pid: Int32

    /// See ``Peer/program``.
    package let program: String?
    package let method: String
  }
}

/// A filter for events.
package struct EventFilter: Sendable {
  /// The patterns of stream names; an event must match one of them.
  ///
  /// `nil` matches all streams.
  package var streams: [Pattern]?

  /// The patterns of event types; an event must match one of them.
  ///
  /// `nil` matches all types.
  package var types: [Pattern]?

  /// Returns whether the recipient may see the events of a stream; `nil` allows all streams.
  package var mayShow: (@Sendable (_ stream: String) -> Bool)?

  /// A service whose events are excluded.
  package var without: String?

  /// The user in whose name an event was recorded; `nil` for all, also those that do not say it.
  package var by: UInt32?

  /// Conditions on the data of an event; all of them must hold.
  package var conditions: [Condition]

  package init(
    streams: [Pattern]? = nil, types: [Pattern]? = nil, conditions: [Condition] = []
  ) {
    self.streams = streams
    self.types = types
    self.conditions = conditions
  }

  /// A copy without conditions; it depends only on the stream and the type of an event.
  package var withoutConditions: EventFilter {
    var filter = self
    filter.conditions = []
    return filter
  }

  /// The only matching stream, if there is exactly one; its events can be found without reading
  /// all others.
  var onlyStream: String? {
    guard let streams, streams.count == 1, streams[0].isLiteral else { return nil }
    return streams[0].text
  }

  /// Returns the event of a record, or `nil` if the filter excludes it.
  ///
  /// - Parameter forms: The event forms of each service in which an event type has changed.
  func event(of record: Record, _ forms: [String: EventForms]) -> JournalEvent? {
    guard wants(record, streams: streams, types: types) else { return nil }
    let event = JournalEvent(record, forms)
    return holds(for: event.data) ? event : nil
  }

  /// Returns whether all conditions hold for the data of an event.
  package func holds(for data: JSONText?) -> Bool {
    conditions.allSatisfy { $0.holds(for: data) }
  }

  /// Returns whether a record matches by its stream, its type and its user.
  ///
  /// - Parameters:
  ///   - streams: The stream patterns left to check; `nil` for none.
  ///   - types: The type patterns left to check; `nil` for none.
  func wants(_ record: Record, streams: [Pattern]?, types: [Pattern]?) -> Bool {
    if let without, record.service == without { return false }
    if let streams, !streams.contains(where: { $0.matches(record.stream) }) { return false }
    if let types {
      let type = EventType.name(of: record.type)
      guard types.contains(where: { $0.matches(type) }) else { return false }
    }
    if let by {
      let meta = record.meta.flatMap { EventCoder().value(Meta.self, of: JSONText(trusted: $0)) }
      guard meta?.uid == by else { return false }
    }
    return mayShow?(record.stream) ?? true
  }
}
