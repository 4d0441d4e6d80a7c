internal import JSON
internal import Journal
internal import Model

/// The state of the journal, as a session sees it: the result of `binder.beat`.
struct JournalHead: Equatable {
  let epoch: String
  let first: UInt64
  let last: UInt64
  let time: Int64
  let term: UInt64

  /// The number of beats of the active daemon in its term.
  let beat: Int64

  /// The name of the active daemon; `nil` if there is none.
  let active: String?
  let address: String?

  /// The checksum of the event at the position of the caller; `nil` if there is no such event.
  let checksum: Int64?

  /// The setting `synchronous_standby_names`.
  let standbys: String

  /// The number of other daemons that live, and the lowest position that one of them has applied.
  let others: Int64
  let slowest: UInt64?

  /// All daemons that have not stopped, also the caller.
  let nodes: [ClusterNode]

  init?(_ result: PostgresResult) {
    guard result.count == 1 else { return nil }
    func number(_ column: Int) -> UInt64 { UInt64(clamping: result.integer(0, column)) }
    epoch = result.text(0, 0) ?? ""
    (first, last, time, term) = (number(1), number(2), result.integer(0, 3), number(4))
    beat = result.integer(0, 5)
    (active, address) = (result.text(0, 6), result.text(0, 7))
    checksum = result.bytes(0, 8) == nil ? nil : result.integer(0, 8)
    standbys = result.text(0, 9) ?? ""
    others = result.integer(0, 10)
    slowest = result.bytes(0, 11) == nil ? nil : number(11)
    let text = result.text(0, 12).flatMap { try? JSONText(parsing: $0) }
    nodes = text.flatMap { try? JSONDecoder().decode(from: $0) } ?? []
  }

  /// The addresses of the daemons that live.
  var addresses: Set<String> { Set(nodes.filter(\.isAlive).map(\.boot)) }

  /// Whether the active daemon has shown life between two states.
  func showsLife(since other: JournalHead) -> Bool {
    (last, beat, term) != (other.last, other.beat, other.term)
  }
}
