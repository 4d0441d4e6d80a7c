package import EventSourcing
package import Facts
package import JSON

/// The state of all cells: each is a stream, and the source of the same name.
package struct Cells: NumberedState {
  /// The values by the number of a cell's name.
  private var values = NumberMap<JSONText?>(empty: nil)

  package init() {}

  /// Decodes a snapshot by hand for speed, because there may be a million cells.
  ///
  /// The snapshot is one object with the values by full name.
  package init?(kept text: JSONText, by coder: EventCoder, _ names: Names) {
    var last = -1
    let isObject = text.forEachMember(inBytes: { name, value in
      values[names.add(name, after: &last)] = JSONText(kept: value)
    })
    guard isObject else { return nil }
  }

  package func kept(by coder: EventCoder, _ names: NameList) -> JSONText {
    var text = ByteBuffer()
    text.object { text in
      values.forEach { number, value in
        guard let value else { return }
        text.key(quoted: names[number])
        text.append(value.text)
      }
    }
    return JSONText(kept: text.string)
  }

  package static var upcasters: [Upcaster] {
    // Form 1 is `{"values":{name:value}}`; form 2 is the inner object alone.
    [{ $0.members?["values"] ?? .null }]
  }

  package mutating func apply(_ event: CellEvent, at place: Place) {
    values[place.number] = Self.value(after: event)
  }

  package static func value(after event: CellEvent) -> JSONText? {
    switch event {
    case .set(let value): value
    case .removed: nil
    }
  }

  package func value(numbered stream: Int) -> JSONText? { values[stream] }

  package func forEachNumber(_ body: (Int) -> Void) {
    values.forEach { if $1 != nil { body($0) } }
  }

  package static func removal(after event: CellEvent, in stream: Stream) -> CellEvent? { .removed }
}
