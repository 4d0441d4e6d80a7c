package import EventSourcing
package import Facts
package import JSON

/// The state of all cells.
package struct Cells: ServiceState {
  /// The values by full name, for example `"cells/lamp"`.
  private var values = NameMap<JSONText>()

  package init() {}

  /// Decodes a snapshot by hand for speed, because there may be a million cells.
  ///
  /// The snapshot is one object with the values by full name.
  package init?(kept text: JSONText, by coder: EventCoder) {
    guard text.forEachMember({ values[$0] = $1 }) else { return nil }
  }

  package func kept(by coder: EventCoder) -> JSONText {
    var text = ByteBuffer()
    text.object { text in
      values.forEach { name, value in
        text.key(quoted: name)
        text.append(value.text)
      }
    }
    return JSONText(kept: text.string)
  }

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

  package func entry(_ source: Span<UInt8>) -> (name: String, value: JSONText)? {
    values.entry(source)
  }

  package func has(_ source: String) -> Bool { values.contains(source) }

  package var sources: some Sequence<String> { values.names }

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

  package static func removal(after event: CellEvent, in stream: String) -> CellEvent? { .removed }

  package func has(toRemove removal: CellEvent, in stream: String) -> Bool { has(stream) }

  package static var isCopiedInParts: Bool { true }

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
