/// A value with its observers and its derived properties.
public class ValueNode<Value>: Subject<Value, Never> {
  @usableFromInline
  final var stored: Value

  @inlinable
  init(_ value: Value) {
    stored = value
    super.init()
  }

  deinit {
    endDerived()
    completeInDeinit()
  }

  /// Whether the value has observers or dependents.
  @inlinable
  final var isObserved: Bool { !links.isEmpty || hasObservers }

  @inlinable
  override func willSend(_ event: Event) {
    if case .next(let element) = event {
      stored = element
      version &+= 1
    }
    if links.count > 1 { mark() }
  }

  @inlinable
  override func didSend() {
    if !links.isEmpty { settle() }
    if isTerminated { endDerived() }
  }

  /// Hands its last value to its dependents.
  @usableFromInline
  final func endDerived() {
    for link in links { (link as? DerivedInput<Value>)?.keep(stored) }
    endLinks()
  }

  @usableFromInline
  override func replay(to observer: Observer<Value, Never>) {
    refresh()
    observer(.next(stored))
  }
}
