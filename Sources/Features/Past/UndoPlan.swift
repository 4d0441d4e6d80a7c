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
    for stream in streams {
      let source = stream.stream
      guard let service = context.rights.service(of: source), service.writer != nil,
        context.rights.sources(of: source)?.exists(source) == true
      else {
        left.append(.init(stream: source, reason: Self.reason(against: source)))
        continue
      }
      let last = context.host.lastPosition(of: source)
      parts.append(
        Part(
          source: source, last: last, other: stream.other ?? (last > stream.last ? last : 0),
          before: stream.first - 1,
          hadLease: stream.hadLease || context.host.holdsLease(source, before: stream.first - 1),
          isMergeable: !stream.isMixed
            && context.rights.sources(of: source)?.emptyValue(of: source) != nil,
          lastSelected: stream.last, service: service))
    }
    let merged = parts.filter(\.isMergeable)
    let places = parts.map { ($0.source, $0.before) } + merged.map { ($0.source, $0.lastSelected) }
    context.host.values(at: places, bytes: Self.maxBytes)
      .answer(call, context.catalog) { values in
        guard values.count == places.count else {
          return call.refuse(context.access.error(Self.tooExpensive))
        }
        let after = Dictionary(
          zip(merged.map(\.source), values.suffix(merged.count)), uniquingKeysWith: { $1 })
        carryOut(zip(parts, values.prefix(parts.count)), after, found.rows, left)
      }
  }

  /// Returns why a stream cannot be undone.
  private static func reason(against stream: String) -> String {
    switch stream.prefix(while: { $0 != "/" }) {
    case "lock": "a lock that was held or released has had its effect"
    case "lease": "the time of a lease goes on"
    default: "a past value of it cannot be set"
    }
  }

  /// - Parameter after: The lists and maps after their last selected events.
  private func carryOut(
    _ before: Zip2Sequence<[Part], ArraySlice<JSONText?>>, _ after: [String: JSONText?],
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
      if let merged = merged(part, value, after[source] ?? nil) {
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
        undone.changes = try changes(old, &bytes).map(\.change) + changes(rows, &bytes)
        context.answer(call, with: undone)
      } catch {
        call.refuse(context.access.error(error))
      }
      return
    }
    undone.after = context.host.last
    _ = context.perform(context.command("undo"), call) {
      var bytes = 0
      let parts = try changes(old, &bytes)
      let others = try changes(rows, &bytes)
      for (part, value, change) in parts {
        try restore(part, to: value)
        undone.changes.append(change)
      }
      undone.changes += others
      context.host.restore(rows.filter(\.1.differs).map(\.0))
      return try context.catalog.text(undone)
    }
  }

  /// Returns a list or a map without what the selected events have changed; `nil` if that is a conflict.
  private func merged(_ part: Part, _ before: JSONText?, _ after: JSONText?) -> JSONText? {
    guard part.isMergeable, let sources = context.rights.sources(of: part.source),
      let empty = sources.emptyValue(of: part.source)
    else { return nil }
    return UndoMerge.merge(
      before ?? empty, after ?? empty, sources.newest(part.source) ?? empty)
  }

  /// Returns the sources that change, each with its value before.
  ///
  /// - Throws: ``TooExpensive``.
  private func changes(
    _ old: [(part: Part, value: JSONText?)], _ bytes: inout Int
  ) throws -> [(part: Part, value: JSONText?, change: Undone.Change)] {
    var changes: [(Part, JSONText?, Undone.Change)] = []
    for (part, value) in old {
      bytes += value?.text.utf8.count ?? 0
      let change = change(of: part, to: value, &bytes)
      guard bytes <= Self.maxBytes else { throw Self.tooExpensive }
      if let change { changes.append((part, value, change)) }
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
  private func change(
    of part: Part, to value: JSONText?, _ bytes: inout Int
  ) -> Undone.Change? {
    let sources = context.rights.sources(of: part.source)
    let empty = sources?.emptyValue(of: part.source)
    let now = sources?.newest(part.source) ?? empty
    bytes += now?.text.utf8.count ?? 0
    let old = value ?? empty
    guard now != old else { return nil }
    let isLong = [now, old].contains { ($0?.text.utf8.count ?? 0) > Self.maxShown }
    return Undone.Change(
      source: part.source, from: isLong ? nil : now, to: isLong ? nil : old,
      long: isLong ? true : nil, refused: refusal(of: part, to: old),
      leased: part.hadLease && value != nil ? true : nil)
  }

  /// Returns why a source does not take a value; `nil` if it does.
  private func refusal(of part: Part, to value: JSONText?) -> String? {
    guard context.role.mayWrite(part.source) else {
      return context.access.notWritable(part.source).message
    }
    return value.flatMap { context.host.types.mismatch(of: $0, for: part.source) }
      .map { "\($0)" }
  }

  private func restore(_ part: Part, to value: JSONText?) throws {
    let old = value ?? context.rights.sources(of: part.source)?.emptyValue(of: part.source)
    guard context.role.mayWrite(part.source) else {
      throw Refusal.denied(stream: part.source)
    }
    if let old {
      _ = try part.service.writer?(part.source, old)
    } else {
      try part.service.clearer?(part.source)
    }
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
