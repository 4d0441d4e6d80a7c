package import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Signals
internal import Wire

/// Offers journal maintenance to clients: figures and compaction.
package func bindJournal(_ catalog: Catalog, to journal: JournalService) {
  catalog.add(
    "journal", "The journal's contents and compaction.",
    events: DaemonEvent.types(of: "daemon"))
  catalog.query(
    "journal.info", "Returns the journal's positions, streams, types, snapshots and bytes.",
    NoParameters.self, .value(JournalFigures.self), kind: .late
  ) { context, call, _ in
    guard let call = call.later() else { return }
    journal.figures().answer(call, context.catalog) { context.answer(call, with: $0) }
  }
  catalog.query(
    "journal.compact",
    "Removes events that retention does not keep, or those before a position or time.",
    Compact.self, .value(JournalService.Compacted.self), kind: .late, site: .active
  ) { context, call, compact throws(WireError) in
    try compact.start(context, journal, call)
  }
}

private struct Compact: DocumentedParameters {
  let before: PastMoment?
  let force: Bool?

  static let docs = [
    "before": #"{"seq":n} or {"time":"…"}: removes all events before it, retained or not."#,
    "force": "Whether to trust the clock although it jumped forward.",
  ]

  func start(
    _ context: CallContext, _ journal: JournalService, _ call: Call
  ) throws(WireError) {
    let isForced = force ?? false
    func run(before seq: UInt64?, _ call: Call) {
      call.markBegun()
      journal.compact(before: seq, isForced: isForced).answer(call, context.catalog) {
        context.answer(call, with: $0)
      }
    }
    switch try before?.place("before") {
    case nil:
      guard let call = call.later() else { return }
      run(before: nil, call)
    case .position(let seq):
      guard seq <= context.host.durable else {
        throw .seqFuture(seq, last: context.host.durable)
      }
      guard let call = call.later() else { return }
      run(before: seq, call)
    case .time(let time):
      guard let call = call.later() else { return }
      context.host.position(at: time - 1).answer(call, context.catalog) {
        run(before: $0 + 1, call)
      }
    }
  }
}
