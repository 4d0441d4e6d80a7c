/// The untyped base of a subject: it propagates changes to derived values.
///
/// A change propagates in two steps, so that no derived value is computed twice or from a mixture
/// of old and new. First all dependents are marked. Then each is computed once all its sources have
/// settled. Reading a marked value computes it at once. A value with a single dependent notifies it
/// at once, because paths can diverge only below that.
///
/// It is not generic, so that propagation runs no generic code except computing and delivering
/// values.
public class ObservedSource {
  /// A number that increases with each change, so that derived values can detect stale inputs.
  @usableFromInline
  final var version = 0
  /// The links from observed derived values to this one.
  @usableFromInline
  final var links: ContiguousArray<DerivedLink> = []
  /// The marked links: a change was announced to them and has not settled.
  @usableFromInline
  final var marked: ContiguousArray<DerivedLink> = []

  @inlinable
  init() {}

  /// Brings the value up to date, if it is derived.
  @usableFromInline
  func refresh() {}

  /// Called when an observer or a link was added or removed.
  @usableFromInline
  func observersChanged() {}

  /// Announces to all dependents that the value may change.
  @usableFromInline
  final func mark() {
    guard marked.isEmpty else { return }
    marked = links
    for link in marked { link.dependent?.sourceMayChange() }
  }

  /// Notifies the marked dependents, or the only dependent, that the value has settled.
  @usableFromInline
  final func settle() {
    if marked.isEmpty {
      guard links.count > 1 else { return links.first?.dependent?.tellChange() ?? () }
      mark()  // a dependent was added during the delivery
    }
    let settled = marked
    marked = []
    for link in settled { link.dependent?.sourceSettled() }
  }

  /// Notifies all dependents that the value will not change any more.
  @usableFromInline
  final func endLinks() {
    let ended = links
    links = []
    for link in ended { link.end() }
  }
}
