internal import JSON
internal import Journal
internal import Model

/// The host's projection of the journal: the head of each stream, and the commands that already
/// ran.
///
/// It is built and stored like the states of services.
final class JournalProjection: Projection {
  /// The service name of its snapshots.
  static let service = "journal"

  /// The current and former forms of its snapshots; see ``upcasters``.
  private static let snapshots = SnapshotForms(upcasters)

  /// Returns the name under which the journal stores removals.
  ///
  /// For this projection it is any service, because it depends on all events.
  static func removalName(of service: String) -> String {
    service == Self.service ? Removal.anyService : service
  }

  let names: Names
  private(set) var heads = StreamHeads()
  private(set) var window = CommandWindow()
  private let coder = EventCoder()

  /// The user of the last record with a `meta`, because consecutive ones are mostly equal.
  private var lastCaller: (meta: String, user: UInt32)?

  /// - Parameter names: The names of the streams; more are added as they occur. The projection
  ///   holds those of its streams.
  init(_ names: Names) {
    self.names = names
  }

  var snapshotForm: Int { Self.snapshots.present }

  /// It has no rows.
  func writes(
    of record: Record, _ choose: (EventWrites) -> (RowPlace) -> Bool
  ) -> [RowWrite] {
    apply(record)
    return []
  }

  func start(from snapshot: Snapshot) -> Bool {
    guard let data = Self.snapshots.read(snapshot) else { return false }
    guard read(data) else {
      // Partial data would let commands run twice and restart the versions of streams.
      (heads, window) = (StreamHeads(), CommandWindow())
      return false
    }
    return true
  }

  /// Loads a snapshot's data.
  ///
  /// - Returns: Whether all of it was readable.
  private func read(_ kept: JSONText) -> Bool {
    var (heads, floors, window): (JSONText?, JSONText?, CommandWindow?)
    let isObject = kept.forEachMember { name, part in
      switch name {
      case "heads": heads = part
      case "floors": floors = part
      case "window": window = CommandWindow(kept: part)
      default: break
      }
    }
    guard isObject, let heads, let window else { return false }
    self.window = window
    var (isWhole, last) = (true, -1)
    let isRead = heads.forEachMember(inBytes: { stream, part in
      guard let head = Head(kept: part) else {
        isWhole = false
        return
      }
      let number = names.add(stream, after: &last)
      names.hold(number, by: .stream)
      self.heads.load(number, head)
    })
    for (service, version) in floors?.members ?? [:] {
      guard let version = version.number?.int64, version > 0 else { return false }
      self.heads.load(floor: UInt64(version), of: service)
    }
    return isRead && isWhole
  }

  @discardableResult
  func apply(_ record: Record) -> [String] {
    replay(record)
    return []
  }

  /// Returns the user that an event's `meta` names.
  private func caller(_ meta: String) -> UInt32 {
    if let lastCaller, lastCaller.meta == meta { return lastCaller.user }
    let user = UInt32(caller: meta) ?? Charge.nobody
    lastCaller = (meta, user)
    return user
  }

  func replay(_ record: Record, in stream: Int) -> JournalError? {
    names.hold(stream, by: .stream)
    heads.update(
      stream, seq: record.seq, version: record.version,
      by: record.meta.map(caller) ?? Charge.nobody)
    if record.command != nil { window.add(record, coder) }
    return nil
  }

  /// Always empty, because no event is unknown to this projection.
  var unknown: UnknownKinds { UnknownKinds() }

  var sources: [String] { [] }

  var forms: EventForms { EventForms([:]) }

  /// Returns no changes, because this projection has no sources.
  func changes(by record: Record, where isWanted: (String) -> Bool) -> [SourceChange] {
    apply(record)
    return []
  }

  func sources(changedBy record: Record) -> [String]? { [] }

  var dependsOnState: Bool { false }

  /// None: all events are its own.
  var others: OtherEvents { .none }

  func knows(_ record: Record) -> Bool { true }

  func given(by record: Record) -> [SourceChange]? { [] }

  func value(of source: String) -> JSONText? { nil }

  func snapshot(at seq: UInt64) -> Snapshot {
    Self.snapshot(of: heads, names.list, window, at: seq)
  }

  /// Returns a snapshot of the data of a running host.
  static func snapshot(
    of heads: StreamHeads, _ names: NameList, _ window: CommandWindow, at seq: UInt64
  ) -> Snapshot {
    var data = ByteBuffer()
    data.object { data in
      data.object("heads") { data in
        heads.forEach { stream, head in
          data.key(quoted: names[stream])
          head.write(to: &data)
        }
      }
      data.object("floors") { data in
        for (service, version) in heads.floors {
          data.key(quoted: service)
          data.append(integer: version)
        }
      }
      data.member("window", window.kept)
    }
    return Snapshot(service: service, seq: seq, schema: snapshots.present, data: data.string)
  }
}

extension Record {
  /// The user that the event's ``meta`` names; ``Charge/nobody`` if there is none.
  var user: UInt32 { meta.flatMap { UInt32(caller: $0) } ?? Charge.nobody }
}

extension UInt32 {
  /// Reads the calling user from an event's `meta`, which begins with `{"uid":1000,`.
  ///
  /// Returns `nil` if it does not.
  fileprivate init?(caller meta: String) {
    let start = #"{"uid":"#.utf8
    guard meta.utf8.starts(with: start) else { return nil }
    let rest = meta.utf8.dropFirst(start.count)
    self.init(Substring(rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }))
  }
}

/// The snapshot form `[seq,version,user]`, without the user if unknown.
///
/// Written and parsed by hand for speed, because there is one for each stream.
extension Head {
  fileprivate func write(to buffer: inout ByteBuffer) {
    buffer.append(UInt8(ascii: "["))
    buffer.append(integer: seq)
    buffer.append(UInt8(ascii: ","))
    buffer.append(integer: version)
    if charge.user != Charge.nobody {
      buffer.append(UInt8(ascii: ","))
      buffer.append(integer: charge.user)
    }
    buffer.append(UInt8(ascii: "]"))
  }

  fileprivate init?(kept bytes: Span<UInt8>) {
    self = .none
    var (number, place): (UInt64, Int) = (0, 0)
    for i in bytes.indices {
      let byte = bytes[i]
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

extension JournalProjection {
  /// The changes of the command window and of the stream heads between snapshot forms.
  ///
  /// In its first three forms, the window is `{"entries":{id:entry},"order":[id],"oldest":n}`. An
  /// entry is `{"seq","version","time","call","value"?,"isInJournal"}`. The entries are in
  /// `order` from the index `oldest` on.
  static var upcasters: [Upcaster] {
    [
      // 1: lacks "isInJournal", because all answers were stored in the window.
      { changed($0) { $0["isInJournal"] = JSONText(false) } },
      // 2: ids are plain keys, because keys were not scoped by user; 3: ids are "uid key".
      { window($0) { $0.renamed { "* " + $0 } } },
      // 3: all users share one window; 4: each user has a window, see ``CommandWindow/kept``.
      { window($0) { $0.byUser } },
      // 4: a head is [seq,version]; 5: it includes the charged user. Both can be read.
      { $0 },
      // 5: no stream was forgotten; 6: "floors" has the highest version of the forgotten ones.
      { $0 },
    ]
  }

  private static func window(
    _ kept: JSONText, _ change: (OldWindow) -> JSONText?
  ) -> JSONText {
    guard var members = kept.members, let window = members["window"].flatMap(OldWindow.init) else {
      return .null
    }
    members["window"] = change(window)
    return JSONText(members: members)
  }

  private static func changed(
    _ kept: JSONText, _ change: (inout [String: JSONText]) -> Void
  ) -> JSONText {
    window(kept) { window in
      var window = window
      for (id, entry) in window.entries {
        guard var members = entry.members else { return nil }
        change(&members)
        window.entries[id] = JSONText(members: members)
      }
      return window.text
    }
  }
}

/// The command window in its first three forms.
private struct OldWindow {
  var entries: [String: JSONText]

  /// The ids by age; may contain duplicates and ids without an entry.
  var order: [String]

  init?(_ text: JSONText) {
    guard let members = text.members, let entries = members["entries"]?.members,
      let order = members["order"]?.elements, let oldest = members["oldest"]?.number?.int64,
      0...Int64(order.count) ~= oldest
    else { return nil }
    self.entries = entries
    self.order = order[Int(oldest)...].compactMap(\.string)
  }

  var text: JSONText {
    JSONText(members: [
      "entries": JSONText(members: entries),
      "order": JSONText(elements: order.map { JSONText(string: $0) }), "oldest": JSONText(0),
    ])
  }

  func renamed(_ rename: (String) -> String) -> JSONText {
    var window = self
    window.entries = [:]
    for (id, entry) in entries { window.entries[rename(id)] = entry }
    window.order = order.map(rename)
    return window.text
  }

  /// The window in its fourth form; `nil` if an entry is malformed.
  var byUser: JSONText? {
    var users: [String: [JSONText]] = [:]
    var seen: Set<String> = []
    for id in order.reversed() where seen.insert(id).inserted {
      guard let entry = entries[id] else { continue }
      let parts = id.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let members = entry.members, let seq = members["seq"],
        let version = members["version"], let time = members["time"], let call = members["call"]
      else { return nil }
      var command = [JSONText(string: String(parts[1])), seq, version, time, call]
      if members["isInJournal"]?.bool == true {
        command += [.null, JSONText(true)]
      } else if let value = members["value"] {
        command.append(value)
      }
      users[String(parts[0]), default: []].append(JSONText(elements: command))
    }
    return JSONText(members: users.mapValues { JSONText(elements: $0.reversed()) })
  }
}
