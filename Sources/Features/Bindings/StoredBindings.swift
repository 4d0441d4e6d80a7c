package import EventSourcing
package import JSON

/// The events of stored bindings; the stream is `bindings/NAME`.
package enum BindingEvent: ServiceEvent, Codable, Equatable {
  case bound(expression: String)
  case unbound

  /// The state of the operators of a binding; the stream is `bindings/NAME/state`.
  case kept(state: JSONText)

  /// The state of a binding that has ended.
  case dropped

  package static var kinds: Set<String> { ["bound", "unbound", "kept", "dropped"] }
}

/// The stored bindings, by name.
package struct StoredBindings: ServiceState, Codable {
  /// The expressions by full name, for example `"bindings/warm"`.
  package private(set) var expressions: [String: String] = [:]

  /// The uid of each binding's creator, by full name; snapshots of earlier versions lack it.
  private var makers: [String: UInt32]? = [:]

  /// The states of operators by full name, for example `"bindings/warm/state"`; snapshots of earlier
  /// versions lack them.
  private var states: [String: JSONText]? = [:]

  package init() {}

  package mutating func apply(_ event: BindingEvent, at place: EventContext) {
    switch event {
    case .bound(let expression):
      expressions[place.stream] = expression
      makers = makers ?? [:]
      makers?[place.stream] = place.uid
    case .unbound:
      expressions[place.stream] = nil
      makers?[place.stream] = nil
    case .kept(let state):
      states = states ?? [:]
      states?[place.stream] = state
    case .dropped: states?[place.stream] = nil
    }
  }

  /// The states of operators, by full name.
  var operatorStates: [String: JSONText] { states ?? [:] }

  /// Returns the uid of the user who created a binding, or `nil` if unknown; takes the full name.
  package func maker(of binding: String) -> UInt32? { makers?[binding] }

  /// Returns the number of bindings that a user has created.
  func count(of uid: UInt32) -> Int { makers?.values.count { $0 == uid } ?? 0 }

  package func value(of source: String) -> JSONText? {
    expressions[source].map { JSONText(string: $0) } ?? states?[source]
  }

  package var sources: some Sequence<String> {
    Array(expressions.keys) + Array(operatorStates.keys)
  }

  package static func sources(changedBy event: BindingEvent, at place: EventContext) -> [String] {
    [place.stream]
  }
}
