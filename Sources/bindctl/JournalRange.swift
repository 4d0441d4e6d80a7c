import BinderClient
import Console
import JSON
import Wire

/// A range of journal positions, with a filter for events.
struct JournalRange {
  /// The position before the range.
  var after: UInt64

  /// The last position of the range.
  let end: UInt64

  let filter: JSONObject
}

/// An event with the protocol's members.
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
  /// Returns the position of the last event before a time or position.
  ///
  /// - Parameter isIncluded: Whether to include the event at the time or position itself.
  /// - Throws: ``Failure`` for a position beyond the journal, which is a typing error or belongs to
  ///   another journal; not if `isIncluded`.
  func position(at moment: When, isIncluded: Bool) throws -> UInt64 {
    switch moment {
    case .seq(let seq):
      guard seq <= greeting.last || isIncluded else {
        throw Failure("position \(seq) is beyond the end of the journal (\(greeting.last))")
      }
      return seq
    case .start: return isIncluded ? greeting.first : greeting.first - 1
    case .now: return greeting.last
    case .time(let time):
      let from = Timestamp(microseconds: time.microseconds + (isIncluded ? 1 : 0))
      // A subscription converts a time to a position; the filter matches no event.
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

  /// Returns the part of a range that contains its last `count` events.
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

  /// Passes the events of a range to a closure, page by page.
  ///
  /// - Parameter isEnough: Whether to stop before the next page.
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

  /// Returns a member that is a position or a count; `nil` if it is not one.
  func uint(_ name: String) -> UInt64? {
    guard case .number(let number)? = self[name] else { return nil }
    return number.int64.flatMap { UInt64(exactly: $0) }
  }

  /// Returns a member that is a string; `nil` if it is not one.
  func string(_ name: String) -> String? {
    guard case .string(let string)? = self[name] else { return nil }
    return string
  }
}
