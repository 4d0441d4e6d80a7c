/// A value that can be read and observed.
///
/// An observer receives the current value at once, then each new value. It receives the completion
/// when the property is deallocated. A value set during a delivery is sent after that delivery, so
/// every observer ends with the newest value. ``value`` changes at once.
public final class Property<Value>: ValueNode<Value>, PropertyProtocol, DerivableProperty,
  DisposeBagProvider
{
  @inlinable
  public override init(_ value: Value) {
    super.init(value)
  }

  /// The current value; during a delivery it is the newest one.
  @inlinable
  public var value: Value {
    get { stored }
    set { if isTerminated { stored = newValue } else { on(.next(newValue)) } }
  }

  /// Changes the value in place and notifies the observers once.
  ///
  /// It avoids the copy of a large value that `value = …` makes.
  @inlinable
  public func update<Result>(_ body: (inout Value) -> Result) -> Result {
    let result = body(&stored)
    if isObserved { on(.next(stored)) } else { version &+= 1 }
    return result
  }

  /// Changes the value without notifying the observers.
  public func silentUpdate(value: Value) {
    stored = value
    version &+= 1
  }

  /// Changes the value in place without notifying the observers.
  public func silentUpdate(_ body: (inout Value) -> Void) {
    body(&stored)
    version &+= 1
  }

  /// A read-only view of this property.
  public var readOnlyView: AnyProperty<Value> { AnyProperty(property: self) }

  /// The bag that is disposed with this object.
  public var bag: DisposeBag { disposeBag }

  /// The node that stores the value: the property itself.
  public var node: ValueNode<Value> { self }
}

// The misspelled associated type is ReactiveKit's.
/// A type with a readable value.
public protocol PropertyProtocol {
  associatedtype ProperyElement

  /// The current value.
  var value: ProperyElement { get }
}

/// A read-only property: a view of a ``Property``, or a value derived from other properties.
///
/// It retains its sources. A derived value is computed once for each change, however many observers
/// it has. Its observers never see a mixture of old and new sources.
public final class AnyProperty<Value>: PropertyProtocol, DerivableProperty {
  /// The node that stores the value.
  public let node: ValueNode<Value>
  private let sources: [AnyObject]

  /// Creates a read-only view of a property.
  public init(property: Property<Value>) {
    node = property
    sources = []
  }

  /// Creates a property from a node and the sources to retain.
  @usableFromInline
  init(_ node: ValueNode<Value>, from sources: [AnyObject]) {
    self.node = node
    self.sources = sources
  }

  /// The current value; a derived one is up to date even while changes are propagating.
  public var value: Value {
    node.refresh()
    return node.stored
  }

  /// Starts a run that sends its events to the observer.
  @inlinable
  public func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
    node.observe(with: observer)
  }
}

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
    if !links.isEmpty { finishChange() }
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
