/// Connects a derived value to its sources while the derived value is observed.
///
/// A value that is read without being observed is recomputed if a source has a new version.
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
    for link in links { _ = link.pullChange() }
  }

  func refresh() {
    var isChanged = false
    for link in links where link.pullChange() { isChanged = true }
    guard isChanged else { return }
    compute(node)
    node.version &+= 1
  }

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
      node.finishChange()
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

/// A link from a derived value to one of its sources, without the type of the value.
@usableFromInline
class DerivedLink {
  /// The source, or `nil` after it has ended.
  ///
  /// Each reader of this property either retains the source or is notified before it is
  /// deallocated.
  final unowned var source: ObservedSource?
  /// The derivation that depends on the source, while it is observed.
  final var dependent: Derivation?
  /// The version of the source that the derived value was computed from.
  private final var seen = -1
  private final let live = LiveNode("DerivedLink")

  init(_ source: ObservedSource) {
    self.source = source
  }

  /// Whether the source will not change any more.
  final var isEnded: Bool { source == nil }

  /// Returns whether the source has changed since the last call.
  final func pullChange() -> Bool {
    guard let source else { return false }
    source.refresh()
    guard source.version != seen else { return false }
    seen = source.version
    return true
  }

  /// Notifies `dependent` of changes from now on.
  final func link(to dependent: Derivation) {
    guard let source else { return }
    self.dependent = dependent
    source.links.append(self)
    source.observersChanged()
  }

  /// Stops the notifications.
  final func unlink() {
    guard dependent != nil else { return }
    dependent = nil
    guard let source, let i = source.links.firstIndex(where: { $0 === self }) else { return }
    source.links.remove(at: i)
    source.observersChanged()
  }

  /// Notes that the source has ended or is being deallocated.
  final func end() {
    source = nil
    let dependent = dependent
    self.dependent = nil
    dependent?.sourceEnded()
  }
}

/// A typed link from a derived value to one of its sources.
final class DerivedInput<Value>: DerivedLink {
  unowned var node: ValueNode<Value>?
  var last: Value?

  init(_ node: ValueNode<Value>) {
    self.node = node
    super.init(node)
  }

  /// The stored value of the source, or its last value after it has ended.
  var value: Value {
    if let node { return node.stored }
    guard let last else { preconditionFailure("a source ended and left no value") }
    return last
  }

  /// Keeps the last value, because the source has ended or is being deallocated.
  func keep(_ value: Value) {
    last = value
    node = nil
  }
}

/// A node whose value is computed from others.
final class DerivedNode<Value>: ValueNode<Value> {
  let compute: () -> Value
  var derivation: Derivation?

  init(_ links: [DerivedLink], compute: @escaping () -> Value) {
    self.compute = compute
    for link in links { link.source?.refresh() }
    super.init(compute())
    derivation = Derivation(
      self, from: links,
      compute: {
        guard let node = $0 as? DerivedNode else { return }
        node.stored = node.compute()
      },
      tell: {
        guard let node = $0 as? DerivedNode else { return }
        node.on(.next(node.stored))
      },
      complete: { ($0 as? DerivedNode)?.on(.completed) })
  }

  override func refresh() {
    derivation?.refresh()
  }

  override func willSend(_ event: Event) {
    if links.count > 1 { mark() }
  }

  override func observersChanged() {
    derivation?.observersChanged(isObserved)
  }
}
