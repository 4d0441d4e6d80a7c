internal import JSON
internal import Journal

/// What the host itself knows of the journal and no service does.
///
/// That is where the streams end, and the commands that were run. It is folded and kept as the
/// states of the services are.
final class JournalFold: Fold {
  /// The name under which it is kept.
  static let service = "journal"
  private static let schema = 1

  private(set) var heads = StreamHeads()
  private(set) var window = CommandWindow()
  private let coder = EventCoder()

  init() {}

  /// What a running host knows.
  init(_ heads: StreamHeads, _ window: CommandWindow) {
    self.heads = heads
    self.window = window
  }

  func start(from snapshot: Snapshot?) -> UInt64 {
    guard let snapshot, snapshot.schema == Self.schema else { return 0 }
    let isRead = JSONText(kept: snapshot.data).forEachMember { name, part in
      switch name {
      case "heads":
        heads.reserveCapacity(part.text.utf8.count / 32)
        _ = part.forEachMember { heads.restore($0, to: Head(kept: $1)) }
      case "window": window = coder.value(of: part) ?? window
      default: break
      }
    }
    return isRead ? snapshot.seq : 0
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
    var kept: [String: JSONText] = [:]
    heads.forEach { kept[$0] = $1.kept }
    let data = JSONText(members: ["heads": JSONText(members: kept), "window": coder.text(window)])
    return Snapshot(service: Self.service, seq: seq, schema: Self.schema, data: data.text)
  }
}

/// `[seq,version]`, taken apart by hand, because there is one for each stream.
extension Head {
  fileprivate var kept: JSONText { JSONText(kept: "[\(seq),\(version)]") }

  fileprivate init(kept text: JSONText) {
    self = .none
    var number: UInt64 = 0
    for byte in text.text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: ","): (seq, number) = (number, 0)
      case UInt8(ascii: "]"): version = number
      default: break
      }
    }
  }
}
