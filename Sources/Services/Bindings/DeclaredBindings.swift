package import JSON

/// What can happen to the bindings that the daemon keeps; the stream is `bindings/NAME`.
package enum BindingEvent: ServiceEvent, Codable, Equatable {
  case bound(expression: String)
  case unbound

  package static var kinds: Set<String> { ["bound", "unbound"] }
}

/// The bindings that the daemon keeps, by name.
package struct DeclaredBindings: ServiceState {
  /// The expressions by whole name, for example `"bindings/warm"`.
  package private(set) var expressions: [String: String] = [:]

  /// Who has made them, by whole name; snapshots of earlier versions have none.
  private var makers: [String: UInt32]? = [:]

  package init() {}

  package mutating func apply(_ event: BindingEvent, at place: Place) {
    switch event {
    case .bound(let expression):
      expressions[place.stream] = expression
      makers = makers ?? [:]
      makers?[place.stream] = place.uid
    case .unbound:
      expressions[place.stream] = nil
      makers?[place.stream] = nil
    }
  }

  /// The user who has made a binding, by its whole name; `nil` when that is not known.
  package func maker(of binding: String) -> UInt32? { makers?[binding] }

  /// How many a user has made.
  func count(of uid: UInt32) -> Int { makers?.values.count { $0 == uid } ?? 0 }

  package func value(of source: String) -> JSONText? {
    expressions[source].map { JSONText(string: $0) }
  }

  package var sources: some Sequence<String> { expressions.keys }

  package static func sources(changedBy event: BindingEvent, at place: Place) -> [String] {
    [place.stream]
  }
}
