package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Offers `undo`: sources get the values that they had before some events.
package func bindUndo(_ catalog: Catalog) {
  catalog.query(
    "undo", "Gives sources the values that they had before some events, in one commit.",
    Undo.self, .command(Undone.self), kind: .long, site: .active,
    errors: ["changed_since", "too_expensive", "in_file", "not_bindable"],
    writes: nil
  ) { context, call, undo in
    let selection = try undo.selection(context)
    guard let call = call.later(isLong: true) else { return }
    selection(call) { search in
      context.host.changes(search, obstacle: obstacle(context)).answer(call, context.catalog) {
        found in
        UndoPlan(
          context, call, through: search.through, isForced: undo.force ?? false,
          isPreview: undo.preview ?? false
        )
        .make(of: found)
      }
    }
  }
}

/// Returns a function that says why a caller does not undo an event of a service with tables.
///
/// The methods of such a service may check who calls, and an undo calls none.
private func obstacle(_ context: CallContext) -> @Sendable (_ user: UInt32?) -> String? {
  if context.role.write.allowsAll { return { _ in nil } }
  let uid = context.caller.uid
  return { user in
    user == uid
      ? nil : "another user has recorded it; only a role that may write everything undoes it"
  }
}

private struct Undo: DocumentedParameters {
  let seq: Position?
  let since: PastMoment?
  let until: PastMoment?
  let by: UInt32?
  let cmd: String?
  let source: String?
  let force: Bool?
  let preview: Bool?

  static let docs = [
    "seq": "The position of the one event to undo.",
    "since": #"Undoes events after a position or time, {"seq":n} or {"time":"…"}."#,
    "until": #"Undoes events up to a position or time, {"seq":n} or {"time":"…"}."#,
    "by": "Undoes only events of the user with this number.",
    "cmd": "Undoes only events of the command with this idempotency key.",
    "source": "Undoes only changes of this source, or of the sources of a pattern.",
    "force": "Whether to undo sources too that something else has changed since.",
    "preview": "Whether to return what would change, and change nothing.",
  ]

  /// Checks the parameters.
  ///
  /// - Returns: A function that finds the positions, and passes the search to its last argument.
  func selection(
    _ context: CallContext
  ) throws(WireError) -> (Call, @escaping (ChangeSearch) -> Void) -> Void {
    let host = context.host
    if let by, by != context.caller.uid { _ = try context.showsOrigin(true) }
    guard let pattern = Pattern(source ?? "**") else {
      throw .unusable("source", "a source or a pattern", source ?? "")
    }
    let isReadable = context.rights.readable(pattern)
    func search(_ after: UInt64, _ through: UInt64) -> ChangeSearch {
      ChangeSearch(
        after: after, through: min(through, host.durable), user: by, command: cmd,
        isWanted: isReadable)
    }
    if let seq {
      guard since == nil, until == nil else {
        throw .unusable("seq", "either seq, or since and until")
      }
      guard seq.seq > 0 else { throw .unusable("seq", "the position of an event, from 1", "0") }
      guard seq.seq <= host.durable else {
        throw .seqFuture(seq.seq, last: host.durable)
      }
      return { _, found in found(search(seq.seq - 1, seq.seq)) }
    }
    guard since != nil || cmd != nil else {
      throw .unusable("since", "seq, since or cmd", "none of them")
    }
    let (from, to) = (try since?.place("since"), try until?.place("until"))
    for case .position(let seq)? in [from, to] where seq > host.durable {
      throw .seqFuture(seq, last: host.durable)
    }
    return { call, found in
      Self.find(from ?? .position(max(host.first, 1) - 1), call, context) { after in
        Self.find(to ?? .position(host.durable), call, context) { found(search(after, $0)) }
      }
    }
  }

  private static func find(
    _ place: PastMoment.Place, _ call: Call, _ context: CallContext,
    _ found: @escaping (UInt64) -> Void
  ) {
    switch place {
    case .position(let seq): found(seq)
    case .time(let time): context.host.position(at: time).answer(call, context.catalog, found)
    }
  }
}

/// The result of `undo`.
struct Undone: Codable {
  /// A source with its value before and after; a member is missing if it has none.
  struct Change: Codable {
    let source: String
    let from: JSONText?
    let to: JSONText?

    /// Whether the values are not shown: one is too long, or clients do not see the row.
    let long: Bool?

    /// Why the source does not take the value from before; `nil` if it does.
    let refused: String?

    /// Whether the value from before ended with a lease, which does not come back.
    let leased: Bool?
  }

  /// A source that something else has changed since, and the position of that event.
  struct Conflict: Codable {
    let source: String
    let seq: UInt64
  }

  /// A stream that cannot be undone, with the reason.
  struct Left: Codable {
    let stream: String
    let reason: String
  }

  var changes: [Change] = []
  var conflicts: [Conflict] = []
  var left: [Left] = []

  /// The last position whose events were looked at, with which a preview can be carried out.
  var through: UInt64

  /// The last position before the commit; `nil` of a preview.
  var after: UInt64?

  init(through: UInt64) {
    self.through = through
  }
}
