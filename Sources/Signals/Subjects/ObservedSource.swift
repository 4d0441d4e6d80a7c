/// What can be observed, without its type: what a change means for what is derived.
///
/// A change goes in two steps, so that nothing derived is computed twice or from a mixture of old
/// and new: first all that hangs on the value is marked, then each is computed when all it depends
/// on has settled. Who reads a marked one meanwhile has it computed at once. Where one value hangs
/// on it alone, ways part further on, if at all: it is told at once.
///
/// It is not generic, so that a turn runs no generic code besides what is computed and told.
@usableFromInline
package class ObservedSource {
  /// Grows with each change of a value, so that what is derived knows whether it is of the present.
  @usableFromInline
  final var version = 0
  /// The links of derived values that are observed.
  @usableFromInline
  final var links: ContiguousArray<DerivedLink> = []
  /// Those that were told that the value may change, and not yet that it has settled.
  @usableFromInline
  final var marked: ContiguousArray<DerivedLink> = []

  @inlinable
  init() {}

  /// Makes the value one of the present, if it is derived.
  @usableFromInline
  func refresh() {}

  /// Called when an observer or a link came or left.
  @usableFromInline
  func observersChanged() {}

  /// Tells all that hangs on the value that it may change.
  @usableFromInline
  final func mark() {
    guard marked.isEmpty else { return }
    marked = links
    for link in marked { link.dependent?.sourceMayChange() }
  }

  /// Tells those that were marked, or else the only one, that the value has settled.
  @usableFromInline
  final func settle() {
    if marked.isEmpty {
      guard links.count > 1 else { return links.first?.dependent?.tellChange() ?? () }
      mark()  // another came during the delivery
    }
    let settled = marked
    marked = []
    for link in settled { link.dependent?.sourceSettled() }
  }

  /// Tells all that hangs on the value that it will not change any more.
  @usableFromInline
  final func endLinks() {
    let ended = links
    links = []
    for link in ended { link.end() }
  }
}
