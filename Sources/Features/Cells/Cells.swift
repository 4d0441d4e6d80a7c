package import EventSourcing
package import Facts
package import JSON

/// The state of all cells.
package struct Cells: ServiceState {
  /// The values by full name, for example `"cells/lamp"`.
  private var values: [String: JSONText] = [:]

  package init() {}

  /// Decodes a snapshot by hand for speed, because there may be a million cells.
  ///
  /// The snapshot is one object with the values by full name.
  package init?(kept text: JSONText, by coder: EventCoder) {
    values.reserveCapacity(text.text.utf8.count / 64)
    guard text.forEachMember({ values[$0] = $1 }) else { return nil }
  }

  package func kept(by coder: EventCoder) -> JSONText { JSONText(members: values) }

  package static var upcasters: [Upcaster] {
    // Form 1 is `{"values":{name:value}}`; form 2 is the inner object alone.
    [{ $0.members?["values"] ?? .null }]
  }

  package subscript(name: String) -> JSONText? { values[name] }

  package mutating func apply(_ event: CellEvent, at place: Place) {
    switch event {
    case .set(let value): values[place.stream] = value
    case .removed: values[place.stream] = nil
    }
  }

  package func value(of source: String) -> JSONText? { values[source] }

  package func has(_ source: String) -> Bool { values[source] != nil }

  package var sources: some Sequence<String> { values.keys }

  package func size(ofStream stream: String) -> Int { values[stream]?.text.utf8.count ?? 0 }

  package func growth(by event: CellEvent, in stream: String) -> Int? {
    switch event {
    case .set(let value): value.text.utf8.count - size(ofStream: stream)
    case .removed: -size(ofStream: stream)
    }
  }

  package func inverse(of event: CellEvent, in stream: String) -> CellEvent? {
    values[stream].map { .set($0) } ?? .removed
  }

  // `reserveCapacity` copies the dictionary if its storage is shared.
  package mutating func unshare() { values.reserveCapacity(values.count) }

  package static func sources(changedBy event: CellEvent, at place: Place) -> [String] {
    [place.stream]
  }

  package static func changes(
    givenBy event: CellEvent, at place: Place
  ) -> [SourceChange]? {
    switch event {
    case .set(let value): [SourceChange(source: place.stream, seq: place.seq, value: value)]
    case .removed: [SourceChange(source: place.stream, seq: place.seq, value: nil)]
    }
  }
}
