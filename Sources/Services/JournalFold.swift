internal import JSON
internal import Journal

/// What the host itself knows of the journal and no service does.
///
/// That is where the streams end, and the commands that were run. It is folded and kept as the
/// states of the services are.
final class JournalFold: Fold {
  /// The name under which it is kept.
  static let service = "journal"
  private static let schema = 3

  /// The name under which the journal keeps what was removed: this one follows from all events.
  static func removalName(of service: String) -> String {
    service == Self.service ? Removal.anyService : service
  }

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
    guard read(JSONText(kept: snapshot.data)) else {
      // Without what it holds commands would be run twice, and versions begin anew.
      (heads, window) = (StreamHeads(), CommandWindow())
      return 0
    }
    return snapshot.seq
  }

  /// Takes over what was kept.
  ///
  /// - Returns: Whether all of it reads back.
  private func read(_ kept: JSONText) -> Bool {
    var (heads, window): (JSONText?, CommandWindow?)
    let isObject = kept.forEachMember { name, part in
      switch name {
      case "heads": heads = part
      case "window": window = coder.value(of: part)
      default: break
      }
    }
    guard isObject, let heads, let window else { return false }
    self.window = window
    self.heads.reserveCapacity(heads.text.utf8.count / 32)
    var isWhole = true
    let isRead = heads.forEachMember { stream, part in
      guard let head = Head(kept: part) else {
        isWhole = false
        return
      }
      self.heads.restore(stream, to: head)
    }
    return isRead && isWhole
  }

  @discardableResult
  func apply(_ record: Record) -> [String] {
    heads.note(record)
    if record.command != nil { window.note(record, coder) }
    return []
  }

  func replay(_ record: Record) -> JournalError? {
    apply(record)
    return nil
  }

  var sources: [String] { [] }

  var forms: EventForms { EventForms([:]) }

  /// It has no sources.
  func changes(by record: Record) -> [SourceChange] {
    apply(record)
    return []
  }

  func knows(_ record: Record) -> Bool { true }

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

  fileprivate init?(kept text: JSONText) {
    self = .none
    var (number, place): (UInt64, Int) = (0, 0)
    for byte in text.text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "[") where place == 0: place = 1
      case UInt8(ascii: ",") where place == 1: (seq, number, place) = (number, 0, 2)
      case UInt8(ascii: "]") where place == 2: (version, place) = (number, 3)
      default: return nil
      }
    }
    guard place == 3, seq > 0, version > 0 else { return nil }
  }
}
