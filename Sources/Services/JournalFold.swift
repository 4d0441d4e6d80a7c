internal import JSON
internal import Journal

/// What the host itself knows of the journal and no service does.
///
/// That is where the streams end, and the commands that were run. It is folded and kept as the states of the services are.
final class JournalFold: Fold {
  /// The name under which it is kept.
  static let service = "journal"
  private static let schema = 1

  private struct Kept: Codable {
    /// Of each stream its last position and version.
    var heads: [String: [UInt64]] = [:]
    var window: CommandWindow
  }

  private(set) var heads = StreamHeads()
  private(set) var window = CommandWindow()
  private let coder = EventCoder()

  func start(from snapshot: Snapshot?) -> UInt64 {
    guard let snapshot, snapshot.schema == Self.schema,
      let kept = coder.value(Kept.self, of: JSONText(kept: snapshot.data))
    else { return 0 }
    heads.reserveCapacity(kept.heads.count)
    for (stream, head) in kept.heads where head.count == 2 {
      heads.restore(stream, to: Head(seq: head[0], version: head[1]))
    }
    window = kept.window
    return snapshot.seq
  }

  @discardableResult
  func apply(_ record: Record) -> [String] {
    heads.note(record)
    if record.command != nil { window.note(record, coder) }
    return []
  }

  func given(by record: Record) -> [SourceChange]? { [] }

  func value(of source: String) -> JSONText? { nil }

  func snapshot(at seq: UInt64) -> Snapshot {
    var kept = Kept(window: window)
    heads.forEach { kept.heads[$0] = [$1.seq, $1.version] }
    return Snapshot(
      service: Self.service, seq: seq, schema: Self.schema, data: coder.text(kept).text)
  }
}
