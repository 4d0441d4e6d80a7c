internal import JSON
internal import Journal

/// What the host itself knows of the journal and no service does.
///
/// That is where the streams end, and the commands that were run. It is folded and kept as the
/// states of the services are.
final class JournalFold: Fold {
  /// The name under which it is kept.
  static let service = "journal"

  /// Its forms; ``upcasters`` says what has changed.
  private static let snapshots = SnapshotForms(upcasters)

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

  var snapshotForm: Int { Self.snapshots.present }

  func start(from snapshot: Snapshot) -> Bool {
    guard let data = Self.snapshots.read(snapshot) else { return false }
    guard read(data) else {
      // Without what it holds commands would be run twice, and versions begin anew.
      (heads, window) = (StreamHeads(), CommandWindow())
      return false
    }
    return true
  }

  /// Takes over what was kept.
  ///
  /// - Returns: Whether all of it reads back.
  private func read(_ kept: JSONText) -> Bool {
    var (heads, window): (JSONText?, CommandWindow?)
    let isObject = kept.forEachMember { name, part in
      switch name {
      case "heads": heads = part
      case "window": window = CommandWindow(kept: part)
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
    heads.note(record, by: record.meta.flatMap(UInt32.init(caller:)) ?? Charge.nobody)
    if record.command != nil { window.note(record, coder) }
    return []
  }

  func replay(_ record: Record) -> JournalError? {
    apply(record)
    return nil
  }

  /// It is made of all events, whatever they say.
  var unknown: UnknownKinds { UnknownKinds() }

  var sources: [String] { [] }

  var forms: EventForms { EventForms([:]) }

  /// It has no sources.
  func changes(by record: Record) -> [SourceChange] {
    apply(record)
    return []
  }

  func sources(changedBy record: Record) -> [String] { [] }

  func knows(_ record: Record) -> Bool { true }

  func given(by record: Record) -> [SourceChange]? { [] }

  func value(of source: String) -> JSONText? { nil }

  func snapshot(at seq: UInt64) -> Snapshot {
    var kept: [String: JSONText] = [:]
    heads.forEach { kept[$0] = $1.kept }
    let data = JSONText(members: ["heads": JSONText(members: kept), "window": window.kept])
    return Snapshot(
      service: Self.service, seq: seq, schema: Self.snapshots.present, data: data.text)
  }
}

extension UInt32 {
  /// The user who has caused an event, as its `meta` begins with: `{"uid":1000,`; `nil` when that is
  /// not said.
  fileprivate init?(caller meta: String) {
    let start = #"{"uid":"#.utf8
    guard meta.utf8.starts(with: start) else { return nil }
    let rest = meta.utf8.dropFirst(start.count)
    self.init(Substring(rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }))
  }
}

/// `[seq,version,user]`, taken apart by hand, because there is one for each stream; without the user
/// who is charged for it when that is not known.
extension Head {
  fileprivate var kept: JSONText {
    let user = charge.user == Charge.nobody ? "" : ",\(charge.user)"
    return JSONText(kept: "[\(seq),\(version)\(user)]")
  }

  fileprivate init?(kept text: JSONText) {
    self = .none
    var (number, place): (UInt64, Int) = (0, 0)
    for byte in text.text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        number = number &* 10 &+ UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "[") where place == 0: place = 1
      case UInt8(ascii: ",") where place == 1: (seq, number, place) = (number, 0, 2)
      case UInt8(ascii: ",") where place == 2: (version, number, place) = (number, 0, 3)
      case UInt8(ascii: "]") where place == 2: (version, place) = (number, 4)
      case UInt8(ascii: "]") where place == 3:
        charge.user = UInt32(truncatingIfNeeded: number)
        place = 4
      default: return nil
      }
    }
    guard place == 4, seq > 0, version > 0 else { return nil }
  }
}
