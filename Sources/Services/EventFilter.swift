package import Facts
package import JSON
internal import Journal

/// Which events are wanted.
package struct EventFilter: Sendable {
  /// The streams that are wanted: those that one of the patterns means; `nil` for all.
  package var streams: [Pattern]?

  /// The types that are wanted: those that one of the patterns means; `nil` for all.
  package var types: [Pattern]?

  /// Whether the events of a stream may be shown; `nil` for all.
  package var mayShow: (@Sendable (_ stream: String) -> Bool)?

  /// A service whose events are not wanted.
  package var without: String?

  /// What must hold for the data of an event, all of it.
  package var conditions: [Condition]

  package init(
    streams: [Pattern]? = nil, types: [Pattern]? = nil, conditions: [Condition] = []
  ) {
    self.streams = streams
    self.types = types
    self.conditions = conditions
  }

  /// The same without conditions: all that depends on the stream and the type.
  package var withoutConditions: EventFilter {
    var filter = self
    filter.conditions = []
    return filter
  }

  /// The one stream that is wanted: its events are found without reading all others.
  var onlyStream: String? {
    guard let streams, streams.count == 1, streams[0].isLiteral else { return nil }
    return streams[0].text
  }

  /// The event of a record, if it is wanted.
  ///
  /// - Parameter forms: Those that events have had, by service, where any has changed.
  func event(of record: Record, _ forms: [String: EventForms]) -> JournalEvent? {
    guard wants(record, streams: streams, types: types) else { return nil }
    let event = JournalEvent(record, forms)
    return holds(for: event.data) ? event : nil
  }

  /// Whether all conditions hold for the data of an event.
  package func holds(for data: JSONText?) -> Bool {
    conditions.allSatisfy { $0.holds(for: data) }
  }

  /// Whether a record is wanted by its stream and type.
  ///
  /// - Parameters:
  ///   - streams: The patterns of streams that are still to be looked at.
  ///   - types: The patterns of types that are.
  func wants(_ record: Record, streams: [Pattern]?, types: [Pattern]?) -> Bool {
    if let without, record.service == without { return false }
    if let streams, !streams.contains(where: { $0.matches(record.stream) }) { return false }
    if let types {
      let type = EventType.name(of: record.type)
      guard types.contains(where: { $0.matches(type) }) else { return false }
    }
    return mayShow?(record.stream) ?? true
  }
}
