package import EventSourcing
package import JSON
internal import Model

extension ServiceState {
  /// Encodes a state by name for a snapshot.
  package func kept(by coder: EventCoder) -> JSONText { encodeSnapshot(by: coder, Names().list) }

  /// Decodes a state by name from a snapshot.
  package init?(kept text: JSONText, by coder: EventCoder) {
    self.init(snapshot: text, by: coder, Names())
  }
}

extension Stream {
  /// Creates a stream of its own.
  package init(named name: String) {
    let names = Names()
    self.init(names.add(name), in: names)
  }
}
