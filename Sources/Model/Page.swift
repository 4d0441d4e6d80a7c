/// A page of consecutive entries with positions: events, changes of sources, or lines of a log.
package struct Page<Entry> {
  /// The matching entries, oldest first.
  package let entries: [Entry]

  /// The last examined position, up to which the page is complete; for a page that was read
  /// backward, the first one.
  package let end: UInt64

  /// The ranges of positions up to ``end`` that were removed from the journal, in order; only for
  /// pages that were read forward.
  package let holes: [ClosedRange<UInt64>]

  package init(entries: [Entry], end: UInt64, holes: [ClosedRange<UInt64>] = []) {
    (self.entries, self.end, self.holes) = (entries, end, holes)
  }

  /// Returns the page with other forms of the same entries.
  package func map<Other>(_ transform: (Entry) -> Other) -> Page<Other> {
    Page<Other>(entries: entries.map(transform), end: end, holes: holes)
  }
}

extension Page: Equatable where Entry: Equatable {}
extension Page: Sendable where Entry: Sendable {}
