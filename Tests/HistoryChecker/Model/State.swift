package import JSON

/// The value of a source.
package enum Value: Hashable, Sendable {
  /// The cell does not exist.
  case none
  case json(JSONText)
  case list([JSONText])
  case map([String: JSONText])

  /// Creates the value from an answer or a frame.
  ///
  /// - Parameter text: `nil` if it is removed.
  init(_ text: JSONText?, of source: String) {
    if source.hasPrefix("lists/") {
      self = .list(text?.elements ?? [])
    } else if source.hasPrefix("maps/") {
      self = .map(text?.members ?? [:])
    } else {
      self = text.map { .json($0) } ?? .none
    }
  }

  /// Returns the value of a source that was never written.
  static func initial(of source: String) -> Value { Value(nil, of: source) }

  /// Whether patterns leave it out.
  var isAbsent: Bool { self == .none || self == .list([]) || self == .map([:]) }
}

extension Value: CustomStringConvertible {
  package var description: String {
    switch self {
    case .none: "(none)"
    case .json(let text): text.text
    case .list(let elements): JSONText(elements: elements).text
    case .map(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
    }
  }
}

/// Cells, lists and maps after some events.
///
/// It is an independent implementation of the protocol, so it shares no errors with the daemon.
package struct State: Sendable {
  /// The position of the last event.
  package internal(set) var seq = 0
  private(set) var values: [String: Value] = [:]
  private var versions: [String: Int] = [:]

  package init() {}

  subscript(source: String) -> Value { values[source] ?? .initial(of: source) }

  /// Returns the number of events of a stream.
  func version(of stream: String) -> Int { versions[stream] ?? 0 }

  /// Applies an event; returns whether it fits the state.
  mutating func apply(_ event: Event) -> Bool {
    seq = event.seq
    versions[event.stream] = event.version
    guard !event.isCompaction else { return true }
    var value = self[event.stream]
    let fits = value.apply(Step(event))
    values[event.stream] = value.isAbsent ? nil : value
    return fits
  }

  /// Applies an event that a command would cause.
  mutating func apply(_ draft: Draft) {
    versions[draft.stream] = version(of: draft.stream) + 1
    var value = self[draft.stream]
    _ = value.apply(Step(type: draft.type, draft.data.members ?? [:]))
    values[draft.stream] = value.isAbsent ? nil : value
  }

  /// Creates a state with values.
  init(seq: Int, values: [String: Value], versions: [String: Int]) {
    (self.seq, self.values, self.versions) = (seq, values, versions)
  }

  /// The sources that have a value.
  var sources: [String] { values.keys.sorted() }

  /// Returns the state reduced to some sources.
  func only(_ isWanted: (String) -> Bool) -> State {
    State(seq: seq, values: values.filter { isWanted($0.key) }, versions: versions)
  }
}
