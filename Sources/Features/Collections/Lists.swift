package import EventSourcing
package import JSON
package import Model

/// The state of all lists.
///
/// An empty list does not exist as a source.
package struct Lists: ServiceState, Codable {
  /// The elements by full name, for example `"lists/todo"`.
  private var lists: [String: LongArray<JSONText>] = [:]

  package init() {}

  package static var isCollection: Bool { true }

  package subscript(name: String) -> LongArray<JSONText> { lists[name] ?? [] }

  package mutating func apply(_ event: ListEvent, at place: EventContext) {
    guard fault(of: event, at: place) == nil else { return }
    let name = place.stream
    switch event {
    case .inserted(let at, let value): lists[name, default: []].insert(value, at: at)
    case .updated(let at, let value): lists[name]?[at] = value
    case .removed(let at):
      lists[name]?.remove(at: at)
      if lists[name]?.isEmpty == true { lists[name] = nil }
    case .moved(let from, let to):
      if let value = lists[name]?.remove(at: from) { lists[name]?.insert(value, at: to) }
    case .replaced(let values): lists[name] = values.isEmpty ? nil : LongArray(values)
    case .cleared: lists[name] = nil
    }
  }

  /// Checks that indices are within the list.
  package func fault(of event: ListEvent, at place: EventContext) -> String? {
    let count = lists[place.stream]?.count ?? 0
    func fault(_ index: Int, _ end: Int) -> String? {
      0..<end ~= index ? nil : "index \(index) is not within a list of \(count)"
    }
    return switch event {
    case .inserted(let at, _): fault(at, count + 1)
    case .updated(let at, _), .removed(let at): fault(at, count)
    case .moved(let from, let to): fault(from, count) ?? fault(to, count)
    case .replaced, .cleared: nil
    }
  }

  package func value(of source: String) -> JSONText? { lists[source].map(JSONText.init(elements:)) }

  package func collection(of source: String) -> SourceCollection? { .list(self[source]) }

  package func isEmpty(collection source: String) -> Bool { lists[source] == nil }

  package func has(_ source: String) -> Bool { lists[source] != nil }

  package var sources: some Sequence<String> { lists.keys }

  package func size(of stream: Stream) -> Int { Self.size(of: self[stream.name]) }

  package func growth(by event: ListEvent, in stream: Stream) -> Int? {
    switch event {
    case .inserted(_, let value): Self.size(of: value)
    case .updated(let at, let value): Self.size(of: value) - size(of: stream.name, at)
    case .removed(let at): -size(of: stream.name, at)
    case .moved: 0
    case .replaced(let values): Self.size(of: values) - size(of: stream)
    case .cleared: -size(of: stream)
    }
  }

  private func size(of list: String, _ index: Int) -> Int {
    guard let values = lists[list], values.indices ~= index else { return 0 }
    return Self.size(of: values[index])
  }

  private static func size(of values: some Sequence<JSONText>) -> Int {
    values.reduce(0) { $0 + size(of: $1) }
  }

  /// Returns the size in bytes, including a fixed overhead per element.
  private static func size(of value: JSONText) -> Int { 96 + value.text.utf8.count }

  /// The data that undoes an event of a list.
  package enum Inverse {
    case event(ListEvent)

    /// Restores all elements.
    case whole(LongArray<JSONText>)
  }

  package func inverse(of event: ListEvent, in stream: Stream) -> Inverse? {
    func element(_ index: Int) -> JSONText? {
      let values = self[stream.name]
      return values.indices ~= index ? values[index] : nil
    }
    switch event {
    case .inserted(let at, _): return .event(.removed(at: at))
    case .updated(let at, _): return element(at).map { .event(.updated(at: at, value: $0)) }
    case .removed(let at): return element(at).map { .event(.inserted(at: at, value: $0)) }
    case .moved(let from, let to): return .event(.moved(from: to, to: from))
    case .replaced, .cleared: return .whole(self[stream.name])
    }
  }

  package mutating func revert(_ inverse: Inverse, at place: EventContext) {
    switch inverse {
    case .event(let event): apply(event, at: place)
    case .whole(let values): lists[place.stream] = values.isEmpty ? nil : values
    }
  }

  // `reserveCapacity` copies the dictionary if its storage is shared.
  package mutating func makeUnique() { lists.reserveCapacity(lists.count) }

  package static func sources(changedBy event: ListEvent, at place: EventContext) -> [String] {
    [place.stream]
  }

  package static func changes(givenBy event: ListEvent, at place: EventContext) -> [SourceChange]? {
    let step: CollectionChange =
      switch event {
      case .inserted(let at, let value): .insert(at: at, value)
      case .updated(let at, let value): .update(at: at, value)
      case .removed(let at): .remove(at: at)
      case .moved(let from, let to): .move(from: from, to: to)
      case .replaced(let values): .reset(JSONText(elements: values))
      case .cleared: .reset(JSONText(elements: []))
      }
    return [SourceChange(source: place.stream, seq: place.seq, step: step)]
  }
}

/// The events of a list; the list is the stream.
package enum ListEvent: ServiceEvent, Codable, Equatable {
  case inserted(at: Int, value: JSONText)
  case updated(at: Int, value: JSONText)
  case removed(at: Int)
  case moved(from: Int, to: Int)
  case replaced(values: [JSONText])
  case cleared

  package static var kinds: Set<String> {
    ["inserted", "updated", "removed", "moved", "replaced", "cleared"]
  }

  /// Writes the usual event by hand, in the form of the compiler, because a list gets many of them.
  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    guard case .inserted(let at, let value) = self else { return coder.write(self, to: &data) }
    data.object {
      $0.member("at", at)
      $0.member("value", value)
    }
    return "inserted"
  }
}
