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

  package init() {}

  package mutating func apply(_ event: BindingEvent, at place: Place) {
    switch event {
    case .bound(let expression): expressions[place.stream] = expression
    case .unbound: expressions[place.stream] = nil
    }
  }

  package func value(of source: String) -> JSONText? {
    expressions[source].map { JSONText(string: $0) }
  }

  package var sources: some Sequence<String> { expressions.keys }

  package static func sources(changedBy event: BindingEvent, at place: Place) -> [String] {
    [place.stream]
  }
}
