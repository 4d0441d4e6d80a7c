import BinderClient
import Console
import JSON
import Wire

/// A part of the journal as commands read it: after one position, up to another, and of that what a
/// filter lets through.
struct JournalRange {
  /// Everything after this position.
  var after: UInt64

  /// Up to this position.
  let end: UInt64

  let filter: JSONObject
}

/// One event, with the protocol's members.
struct JournalItem {
  let seq: UInt64
  let event: JSONObject

  init?(_ value: JSONValue) {
    guard case .object(let object) = value, case .number(let number)? = object["seq"],
      let seq = number.int64, case .object(let event)? = object["event"]
    else { return nil }
    self.seq = UInt64(seq)
    self.event = event
  }

  init(seq: UInt64, event: JSONObject) {
    self.seq = seq
    self.event = event
  }
}

extension BinderConnection {
  /// The position of the last event before a moment, or at it.
  ///
  /// A position that the journal has not reached is of another journal, or a typing error.
  ///
  /// - Parameter isIncluded: Whether what is at the moment itself comes before the position.
  func position(at moment: When, isIncluded: Bool) throws -> UInt64 {
    switch moment {
    case .seq(let seq):
      guard seq <= greeting.last || isIncluded else {
        throw Failure("the journal ends at \(greeting.last), before \(seq)")
      }
      return seq
    case .start: return isIncluded ? greeting.first : greeting.first - 1
    case .now: return greeting.last
    case .time(let time):
      let from = Timestamp(microseconds: time.microseconds + (isIncluded ? 1 : 0))
      // The daemon finds a time for those who subscribe; nothing of this type ever comes.
      let answer = try call(
        "subscribe",
        [
          "source": .string("events"), "sub": .string("position"),
          "from": .object(["time": .string(from.text)]),
          "filter": .object(["types": .array([.string("-")])]),
        ])
      _ = try call("unsubscribe", ["sub": .string("position")])
      return answer.object.uint("after") ?? 0
    }
  }

  /// Leaves only the last events of a range.
  func last(_ count: UInt64, of range: JournalRange) throws -> JournalRange {
    var range = range
    guard count > 0 else {
      range.after = range.end
      return range
    }
    var (left, before) = (count, range.end + 1)
    while left > 0 {
      let page = try call(
        "history",
        [
          "source": .string("events"), "before": .number(JSONNumber(before)),
          "limit": .number(JSONNumber(min(left, 100))), "filter": .object(range.filter),
        ]
      ).object
      let items = page.items
      guard let first = items.first, first.seq > range.after else { return range }
      left -= min(left, UInt64(items.count))
      before = first.seq
      guard page["more"] == .bool(true), left > 0 else { break }
    }
    range.after = max(range.after, before - 1)
    return range
  }

  /// Hands out the events of a range, page by page.
  ///
  /// - Parameter isEnough: Whether no more are wanted.
  func events(
    of range: JournalRange, until isEnough: () -> Bool = { false },
    _ take: (JournalItem) throws -> Void
  ) throws {
    var after = range.after
    while after < range.end, !isEnough() {
      let page = try call(
        "history",
        [
          "source": .string("events"), "after": .number(JSONNumber(after)),
          "limit": .number(JSONNumber(1000)), "filter": .object(range.filter),
        ]
      ).object
      for item in page.items {
        guard item.seq <= range.end else { return }
        try take(item)
      }
      guard page["more"] == .bool(true), let end = page.uint("after"), end > after else { return }
      after = end
    }
  }
}

extension JSONObject {
  /// The events of a page.
  fileprivate var items: [JournalItem] {
    guard case .array(let items)? = self["items"] else { return [] }
    return items.compactMap(JournalItem.init)
  }

  /// A member that is a position or a count.
  func uint(_ name: String) -> UInt64? {
    guard case .number(let number)? = self[name] else { return nil }
    return number.int64.flatMap { UInt64(exactly: $0) }
  }

  /// A member that is a text.
  func string(_ name: String) -> String? {
    guard case .string(let string)? = self[name] else { return nil }
    return string
  }
}
