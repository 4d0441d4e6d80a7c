/// Connects a derived value to its sources while the derived value is observed.
///
/// A value that is read without being observed is recomputed if a source has a new version.
@usableFromInline
final class Derivation {
  private let links: [DerivedLink]
  /// The derived value, which owns this object.
  private unowned let node: ObservedSource
  /// A strong reference to the derived value while it is linked: the sources retain it then.
  private var kept: ObservedSource?
  /// Created where the type of the value is known, and capturing nothing.
  private let compute: (ObservedSource) -> Void
  private let tell: (ObservedSource) -> Void
  private let complete: (ObservedSource) -> Void
  /// The number of sources that have not settled.
  private var pending = 0
  /// The version last sent to the observers.
  private var told = 0

  @usableFromInline
  init(
    _ node: ObservedSource, from links: [DerivedLink],
    compute: @escaping (ObservedSource) -> Void, tell: @escaping (ObservedSource) -> Void,
    complete: @escaping (ObservedSource) -> Void
  ) {
    self.node = node
    self.links = links
    self.compute = compute
    self.tell = tell
    self.complete = complete
    for link in links { _ = link.takeChange() }
  }

  @usableFromInline
  func refresh() {
    var isChanged = false
    for link in links where link.takeChange() { isChanged = true }
    guard isChanged else { return }
    compute(node)
    node.version &+= 1
  }

  @usableFromInline
  func observersChanged(_ isObserved: Bool) {
    guard isObserved != (kept != nil) else { return }
    guard isObserved else {
      pending = 0
      for link in links { link.unlink() }
      kept = nil
      return
    }
    kept = node
    refresh()
    told = node.version
    for link in links { link.link(to: self) }
    sourceEnded()
  }

  /// Notes that a source may change; called once before ``sourceSettled()``.
  func sourceMayChange() {
    pending += 1
    if pending == 1 { node.mark() }
  }

  /// Computes the value and sends it if it has changed and all sources have settled.
  func tellChange() {
    guard pending == 0 else { return }
    refresh()
    guard told != node.version else { return }
    told = node.version
    tell(node)
  }

  /// Notes that a source has settled; computes the value when all sources have.
  func sourceSettled() {
    guard pending > 0 else { return }  // linked again during the turn
    pending -= 1
    guard pending == 0 else { return }
    refresh()
    if told == node.version {
      node.settle()
    } else {
      told = node.version
      tell(node)
    }
  }

  /// Completes the derived value if all sources have ended.
  func sourceEnded() {
    guard links.allSatisfy(\.isEnded) else { return }
    complete(node)
    kept = nil
  }
}
