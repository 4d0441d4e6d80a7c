internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The changes of one `undo`.
///
/// It reads the old values off the loop, and then writes them in one commit. A source that changes in
/// between is a conflict.
struct UndoPlan {
  /// The longest value that the result shows, in bytes.
  private static let maxShown = 256

  /// The most bytes of all values, before and after, of one undo, which is one turn of the loop.
  private static let maxBytes = 2 << 20

  /// The most bindings of one undo.
  private static let maxBindings = 100

  private static var tooExpensive: TooExpensive {
    TooExpensive(
      "the values have more than \(maxBytes) bytes before and after: undo fewer sources at once")
  }

  private let context: CallContext
  private let call: Call
  private let through: UInt64
  private let isForced: Bool
  private let isPreview: Bool

  init(
    _ context: CallContext, _ call: Call, through: UInt64, isForced: Bool, isPreview: Bool
  ) {
    self.context = context
    self.call = call
    self.through = through
    self.isForced = isForced
    self.isPreview = isPreview
  }

  /// A source, the position up to which its changes are known, and how to change it.
  private struct Part {
    let source: String
    let last: UInt64

    /// A change that is not selected; 0 if there is none.
    let other: UInt64
    let before: UInt64
    let hadLease: Bool

    /// Whether it is a list or a map that may be undone in part: nothing else has changed it between the
    /// selected events.
    let isMergeable: Bool

    /// The position of the last selected event.
    let lastSelected: UInt64
    let service: Catalog.Service

    /// The source whose past value comes back too.
    var companion: String? { service.undo?.companion(of: source) }
  }

  /// Makes the plan from the selected changes, and carries it out.
  func make(of found: FoundChanges) {
    let streams = found.streams
    guard streams.count + found.rows.count <= ChangeSearch.maxStreams else {
      return call.refuse(
        .unusable(
          "since", "events of at most \(ChangeSearch.maxStreams) sources", "events of more"))
    }
    var parts: [Part] = []
    var left = found.left.map { Undone.Left(stream: $0.stream, reason: $0.reason) }
    let companions = Set(
      streams.compactMap {
        context.rights.service(of: $0.stream)?.undo?.companion(of: $0.stream)
      })
    for stream in streams where !companions.contains(stream.stream) {
      let source = stream.stream
      guard let service = context.rights.service(of: source),
        service.writer != nil || service.undo != nil,
        context.rights.sources(of: source)?.exists(source) == true
      else {
        left.append(.init(stream: source, reason: Self.reason(against: source)))
        continue
      }
      if let obstacle = service.undo?.obstacle(to: source) {
        left.append(.init(stream: source, reason: obstacle))
        continue
      }
      let last = context.host.lastPosition(of: source)
      parts.append(
        Part(
          source: source, last: last, other: stream.other ?? (last > stream.last ? last : 0),
          before: stream.first - 1,
          hadLease: stream.hadLease || context.host.holdsLease(source, before: stream.first - 1),
          isMergeable: !stream.isMixed && emptyValue(of: source, service) != nil,
          lastSelected: stream.last, service: service))
    }
    let merged = parts.filter(\.isMergeable)
    let together = parts.compactMap { part in part.companion.map { ($0, part.before) } }
    let places =
      parts.map { ($0.source, $0.before) } + merged.map { ($0.source, $0.lastSelected) } + together
    context.host.values(at: places, bytes: Self.maxBytes)
      .answer(call, context.catalog) { values in
        guard values.count == places.count else {
          return call.refuse(context.access.error(Self.tooExpensive))
        }
        let others = Dictionary(
          zip(places, values).dropFirst(parts.count).map { ($0.0, $1) }, uniquingKeysWith: { $1 })
        carryOut(zip(parts, values.prefix(parts.count)), others, found.rows, left)
      }
  }

  /// The value of a source whose entries are undone one by one, without entries.
  private func emptyValue(of source: String, _ service: Catalog.Service) -> JSONText? {
    context.rights.sources(of: source)?.emptyValue(of: source)
      ?? service.undo?.emptyValue(of: source)
  }

  /// Returns why a stream cannot be undone.
  private static func reason(against stream: String) -> String {
    switch stream.prefix(while: { $0 != "/" }) {
    case "lock": "a lock that was held or released has had its effect"
    case "lease": "the time of a lease goes on"
    default: "a past value of it cannot be set"
    }
  }

  /// - Parameter others: The lists and maps after their last selected events, and the past values of
  ///   companions.
  private func carryOut(
    _ before: Zip2Sequence<[Part], ArraySlice<JSONText?>>, _ others: [String: JSONText?],
    _ changed: [ChangedRow], _ left: [Undone.Left]
  ) {
    let rows = changed.compactMap { row in context.host.present(row).map { (row, $0) } }
    var undone = Undone(through: through)
    undone.left = left
    var old: [(part: Part, value: JSONText?)] = []
    for (part, value) in before {
      let (source, host) = (part.source, context.host)
      let seq = part.other > 0 ? part.other : host.lastPosition(of: source)
      guard part.other > 0 || seq > part.last else {
        old.append((part, value))
        continue
      }
      if let merged = merged(part, value, others[source] ?? nil) {
        old.append((part, merged))
      } else {
        old.append((part, value))
        undone.conflicts.append(.init(source: source, seq: seq))
      }
    }
    for (row, present) in rows where present.hasChangedSince && present.differs {
      let seq = row.other ?? context.host.lastPosition(of: present.stream)
      undone.conflicts.append(
        .init(
          source: present.name,
          seq: seq > row.last ? seq : context.host.lastPosition(of: row.service)))
    }
    if !isForced, !isPreview, let conflict = undone.conflicts.first {
      return call.refuse(
        context.access.error(ChangedSince(conflict, count: undone.conflicts.count)))
    }
    if isPreview {
      do {
        var bytes = 0
        undone.changes = try changes(old, others, &bytes).map(\.change) + changes(rows, &bytes)
        context.answer(call, with: undone)
      } catch {
        call.refuse(context.access.error(error))
      }
      return
    }
    undone.after = context.host.last
    var restored: [RestoredSource] = []
    _ = context.perform(context.command("undo"), call) { seq in
      for one in restored { if let seq { one.onAccept(seq) } else { one.onFailure() } }
    } _: {
      var bytes = 0
      let parts = try changes(old, others, &bytes)
      let ofRows = try changes(rows, &bytes)
      for (part, past, change) in parts {
        if let one = try restore(part, to: past) { restored.append(one) }
        undone.changes.append(change)
      }
      undone.changes += ofRows
      context.host.restore(rows.filter(\.1.differs).map(\.0))
      return try context.catalog.text(undone)
    }
  }

  /// Returns a list or a map without what the selected events have changed; `nil` if that is a conflict.
  private func merged(_ part: Part, _ before: JSONText?, _ after: JSONText?) -> JSONText? {
    guard part.isMergeable, let sources = context.rights.sources(of: part.source),
      let empty = emptyValue(of: part.source, part.service)
    else { return nil }
    return UndoMerge.merge(
      before ?? empty, after ?? empty, sources.newest(part.source) ?? empty)
  }

  /// Returns the sources that change, each with its value before.
  ///
  /// - Throws: ``TooExpensive``.
  private func changes(
    _ old: [(part: Part, value: JSONText?)], _ others: [String: JSONText?], _ bytes: inout Int
  ) throws -> [(part: Part, past: PastSource, change: Undone.Change)] {
    var changes: [(Part, PastSource, Undone.Change)] = []
    var bindings = 0
    for (part, value) in old {
      bytes += value?.text.utf8.count ?? 0
      let past = PastSource(
        part.source, value ?? emptyValue(of: part.source, part.service),
        companion: part.companion.flatMap { others[$0] ?? nil })
      let change = change(of: part, to: past, isNothing: value == nil, &bytes)
      guard bytes <= Self.maxBytes else { throw Self.tooExpensive }
      guard let change else { continue }
      if part.companion != nil { bindings += 1 }
      guard bindings <= Self.maxBindings else {
        throw TooExpensive("at most \(Self.maxBindings) bindings are undone at once")
      }
      changes.append((part, past, change))
    }
    return changes
  }

  /// Returns the rows that change.
  ///
  /// - Throws: ``TooExpensive``.
  private func changes(
    _ rows: [(ChangedRow, PresentRow)], _ bytes: inout Int
  ) throws -> [Undone.Change] {
    var changes: [Undone.Change] = []
    for (changed, present) in rows where present.differs {
      bytes += [changed.before, changed.after].reduce(0) { $0 + ($1?.text.utf8.count ?? 0) }
      guard bytes <= Self.maxBytes else { throw Self.tooExpensive }
      let (now, old) = (present.now, present.old)
      let isLong = [now, old].contains { ($0?.text.utf8.count ?? 0) > Self.maxShown }
      let isShown = present.isShown && !isLong && context.role.mayRead(present.name)
      var refused: String?
      if !context.role.mayWrite(present.stream) {
        refused = context.access.notWritable(present.stream).message
      } else if present.isShown, let old {
        refused = context.host.types.mismatch(of: old, for: present.name).map { "\($0)" }
      }
      changes.append(
        Undone.Change(
          source: present.name, from: isShown ? now : nil, to: isShown ? old : nil,
          long: isShown ? nil : true, refused: refused, leased: nil))
    }
    return changes
  }

  /// Returns how a source changes; `nil` if it has the value already.
  ///
  /// - Parameter isNothing: Whether it had no value.
  private func change(
    of part: Part, to past: PastSource, isNothing: Bool, _ bytes: inout Int
  ) -> Undone.Change? {
    var now =
      context.rights.sources(of: part.source)?.newest(part.source)
      ?? emptyValue(of: part.source, part.service)
    var old = past.value
    bytes += now?.text.utf8.count ?? 0
    guard now != old else { return nil }
    let refusal = refusal(of: part, to: past)
    // Of declarations, only those that change are shown.
    if part.service.undo != nil, let one = now?.members, let other = old?.members {
      now = JSONText(sorted: one.filter { other[$0.key] != $0.value })
      old = JSONText(sorted: other.filter { one[$0.key] != $0.value })
    }
    let isLong = [now, old].contains { ($0?.text.utf8.count ?? 0) > Self.maxShown }
    return Undone.Change(
      source: part.source, from: isLong ? nil : now, to: isLong ? nil : old,
      long: isLong ? true : nil, refused: refusal,
      leased: part.hadLease && !isNothing ? true : nil)
  }

  /// Returns why a source does not take a value; `nil` if it does.
  private func refusal(of part: Part, to past: PastSource) -> String? {
    guard context.role.mayWrite(part.source) else {
      return context.access.notWritable(part.source).message
    }
    if let undo = part.service.undo { return undo.refusal(of: past, context) }
    return past.value.flatMap { context.host.types.mismatch(of: $0, for: part.source) }
      .map { "\($0)" }
  }

  private func restore(_ part: Part, to past: PastSource) throws -> RestoredSource? {
    guard context.role.mayWrite(part.source) else {
      throw Refusal.denied(stream: part.source)
    }
    if let undo = part.service.undo { return try undo.restore(past, context) }
    if let old = past.value {
      _ = try part.service.writer?(part.source, old)
    } else {
      try part.service.clearer?(part.source)
    }
    return nil
  }
}

extension JSONText {
  /// Creates an object whose members are in the order of their names.
  fileprivate init(sorted members: [String: JSONText]) {
    var buffer = ByteBuffer()
    buffer.object {
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        $0.key(quoted: name)
        $0.append(value.text)
      }
    }
    self.init(trusted: buffer.string)
  }
}

/// Something else has changed a source since.
private struct ChangedSince: ServiceError {
  let conflict: Undone.Conflict
  let count: Int

  init(_ conflict: Undone.Conflict, count: Int) {
    self.conflict = conflict
    self.count = count
  }

  var kind: ServiceErrorKind { .rejected(reason: "changed_since") }

  var description: String {
    let others = count > 1 ? ", and \(count - 1) more" : ""
    return "event \(conflict.seq) has changed '\(conflict.source)' since\(others)"
  }
}
