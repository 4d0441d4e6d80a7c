/// An event that a service wants to record: it has no position, version and time yet.
///
/// Appending turns it into a ``Record``.
package struct Draft: Equatable, Sendable {
  /// The stream, for example `"cells/lamp"`.
  ///
  /// The events of one stream have versions 1, 2, 3.
  package var stream: String

  /// The event type, for example `"cells.set"`.
  ///
  /// A type is never reused for something else.
  package var type: String

  /// The payload, compact JSON text.
  package var data: String

  /// The idempotency key of the command that caused it, if the client sent one.
  package var command: String?

  /// The origin, compact JSON text with `uid`, `pid` and `method`.
  package var meta: String?

  /// The uid charged for the state that the stream keeps.
  package var user = Charge.nobody

  /// The bytes to add to the charge of the stream; may be negative.
  package var growth = 0

  package init(
    stream: String, type: String, data: String, command: String? = nil, meta: String? = nil
  ) {
    self.stream = stream
    self.type = type
    self.data = data
    self.command = command
    self.meta = meta
  }
}
