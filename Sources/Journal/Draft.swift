/// A fact that a service wants to keep.
package struct Draft: Equatable, Sendable {
  /// What it happened to, for example `"cells/lamp"`: the events of one stream have versions 1, 2, 3.
  package var stream: String

  /// Its kind, for example `"cells.set"`; a name is never reused for something else.
  package var type: String

  /// Its content, compact JSON text.
  package var data: String

  /// The client's identity of the command that caused it, if it gave one.
  package var command: String?

  /// Who caused it, compact JSON text: `uid`, `pid`, `method`.
  package var meta: String?

  /// Who is charged for what is kept because of the stream.
  package var user = Charge.nobody

  /// By how many bytes that becomes more.
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
