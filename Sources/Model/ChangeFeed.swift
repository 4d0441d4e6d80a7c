package import JSON

/// The changes of the sources of a pattern, which an observer collects in its own time.
///
/// A commit only notes that there are some. Each change is kept once for all patterns until all
/// observers have collected it.
package protocol ChangeFeed: AnyObject {
  /// Called at the first change after all others were collected.
  var onNews: (() -> Void)? { get set }

  /// Whether changes wait to be collected; the reader may want none of them.
  var hasNews: Bool { get }

  /// Whether changes were joined that were not collected yet.
  var hasJoined: Bool { get }

  /// Returns the next changes of one source.
  ///
  /// - Parameter isOver: Whether no time is left to look further.
  /// - Returns: `nil` if there are none, or none was found in the time; see ``hasNews``.
  func next(until isOver: () -> Bool) -> ChangeRun?

  /// Removes what ``next(until:)`` has returned.
  func removeNext()

  /// Removes all changes.
  func removeAll()

  /// Ends the observation.
  func end()
}

/// Changes of one source, one after the other: nearly always a single one.
package struct ChangeRun: Sendable {
  /// The number of the last change among those of its log.
  package let number: UInt64

  /// The last change.
  package private(set) var newest: SourceChange
  package private(set) var count: UInt64 = 1

  /// The value before the first change, if ``isBeforeKnown``.
  package private(set) var before: JSONText?
  package private(set) var isBeforeKnown = true

  /// Whether the source had no value before.
  package private(set) var isNew: Bool

  /// The number of changes since the source had no value; `nil` if it always had one.
  package private(set) var sinceGone: UInt64?

  /// Whether no change has changed the value.
  package private(set) var isRepeat: Bool

  package init(_ change: SourceChange, number: UInt64 = 0) {
    (newest, self.number) = (change, number)
    (before, isNew, isRepeat) = (change.before, change.isNew, change.isRepeat)
    sinceGone = change.isGone ? 0 : nil
  }

  /// Adds the changes before these.
  ///
  /// The value before them is not kept: an observer may have collected some of the changes.
  package mutating func join(_ former: ChangeRun) {
    sinceGone = sinceGone ?? former.sinceGone.map { $0 + count }
    count += former.count
    isNew = isNew && former.isNew
    isRepeat = isRepeat && former.isRepeat
    dropBefore()
  }

  /// Forgets the value before.
  package mutating func dropBefore() {
    guard isBeforeKnown else { return }
    (before, isBeforeKnown) = (nil, false)
    guard newest.before != nil else { return }
    newest = SourceChange(source: newest.source, seq: newest.seq, value: newest.value)
  }

  /// The approximate size of the values in bytes.
  package var size: Int { newest.size + (before?.text.utf8.count ?? 0) }
}
