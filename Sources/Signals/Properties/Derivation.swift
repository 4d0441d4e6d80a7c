/// How a derived value hangs on others: only while it is observed itself.
///
/// What is read otherwise is computed when what it depends on has another version.
@usableFromInline
final class Derivation {
  private let links: [DerivedLink]
  /// The derived value, which holds this.
  private unowned let node: ObservedSource
  /// The same while it hangs on others: they hold it then.
  private var kept: ObservedSource?
  /// Made where the type of the value was known, and capturing nothing.
  private let compute: (ObservedSource) -> Void
  private let tell: (ObservedSource) -> Void
  private let complete: (ObservedSource) -> Void
  /// How many of the values it depends on have not settled.
  private var pending = 0
  /// The version that the observers know.
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

  /// A value it depends on may change: told once before ``sourceSettled()``.
  func sourceMayChange() {
    pending += 1
    if pending == 1 { node.mark() }
  }

  /// Computes and tells the value, if it has changed and nothing else that it depends on may change.
  func tellChange() {
    guard pending == 0 else { return }
    refresh()
    guard told != node.version else { return }
    told = node.version
    tell(node)
  }

  /// That value is now what it will be.
  func sourceSettled() {
    guard pending > 0 else { return }  // it came back during the turn
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

  /// A value it depends on will not change any more.
  func sourceEnded() {
    guard links.allSatisfy(\.isEnded) else { return }
    complete(node)
    kept = nil
  }
}
