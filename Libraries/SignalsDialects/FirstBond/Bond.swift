public import Signals

/// A binding target that runs a closure for each element.
///
/// A bond with a target object does not retain it and works while that object lives, as in
/// ReactiveKit. A bond with only a listener works while the bond itself lives, as in the first
/// Bond.
public class Bond<Element>: BindableProtocol, DisposeBagProvider {
  private let start: ((SafeSignal<Element>) -> any Disposable)?
  /// The closure that runs for each element; `nil` for a bond with a target.
  public var listener: ((Element) -> Void)?
  /// The bindings to a bond without a target.
  public private(set) lazy var bag = DisposeBag(isReusable: true)

  /// - Parameter setter: Called with the target and each element while the target lives.
  public init<Target: Deallocatable>(
    target: Target, context: ExecutionContext? = nil,
    setter: @escaping (Target, Element) -> Void
  ) {
    start = { [weak target] signal in
      guard let target else { return SimpleDisposable(isDisposed: true) }
      return signal.bind(to: target, context: context, setter: setter)
    }
  }

  /// - Parameter listener: Called with each element while the bond lives.
  public init(_ listener: @escaping (Element) -> Void) {
    start = nil
    self.listener = listener
  }

  /// Runs the closure for each element of `signal` while the target, or a bond without one, lives.
  public func bind(signal: SafeSignal<Element>) -> any Disposable {
    start?(signal) ?? signal.bind(to: self) { $0.listener?($1) }
  }
}

extension ReactiveExtensions where Base: Deallocatable {
  /// Returns a bond that calls `setter` with the object and each element.
  public func bond<Element>(
    context: ExecutionContext? = nil, setter: @escaping (Base, Element) -> Void
  ) -> Bond<Element> {
    Bond(target: base, context: context, setter: setter)
  }
}

/// A value that bonds follow.
public class Dynamic<Value>: SubjectProtocol, DisposeBagProvider {
  /// The type of the elements.
  public typealias Element = Value
  /// The type of the failure.
  public typealias Error = Never

  final let property: Property<Value>

  /// Creates a value.
  public init(_ value: Value) {
    property = Property(value)
  }

  /// The current value; setting it notifies all bonds, even during a delivery.
  public final var value: Value {
    get { property.value }
    set { on(.next(newValue)) }
  }

  /// Whether the value has observers.
  public final var hasObservers: Bool { property.hasObservers }

  /// The bag that is disposed with this object.
  public final var bag: DisposeBag { property.disposeBag }

  /// Sets the value or ends the observations; after the terminal event it does nothing.
  public final func on(_ event: SafeSignal<Value>.Event) {
    guard !property.isTerminated else { return }
    willSend(event)
    property.on(event)
  }

  /// Calls the observer with the current value at once, then with each new value.
  public final func observe(with observer: @escaping SafeObserver<Value>) -> any Disposable {
    property.observe(with: observer)
  }

  /// Called with each event before any observer is called.
  func willSend(_ event: SafeSignal<Value>.Event) {}

  /// Returns a value that is always `transform` of this one; it retains this one.
  public final func map<Output>(_ transform: @escaping (Value) -> Output) -> Dynamic<Output> {
    let derived = Dynamic<Output>(transform(value))
    dropFirst(1).map(transform).bind(to: derived)
    return derived
  }
}

extension Dynamic: BindableProtocol {
  /// Sets the value to each element of `signal`, until the signal or this object ends.
  public func bind(signal: SafeSignal<Value>) -> any Disposable {
    signal.bind(to: self) { $0.send($1) }
  }
}

extension Dynamic: BindTarget {
  /// The bag that is disposed with this object.
  public var disposeBag: DisposeBag { property.disposeBag }

  /// Returns the end.
  public func bindEnd(isHeld: Bool) -> BindEndpoint<Value> {
    let held = isHeld ? self : nil
    return BindEndpoint(
      read: { [weak self] in self?.value }, write: { [weak self] in self?.send($0) },
      values: SafeSignal { [weak self] observer in
        guard let dynamic = held ?? self else {
          observer.complete()
          return NonDisposable.instance
        }
        return dynamic.observe(with: observer.on)
      },
      isGone: { [weak self] in self == nil })
  }
}

/// Returns a value that is always `transform` of another.
public func map<Value, Output>(
  _ dynamic: Dynamic<Value>, _ transform: @escaping (Value) -> Output
) -> Dynamic<Output> {
  dynamic.map(transform)
}

extension Bond {
  /// Follows a value while the bond lives.
  ///
  /// - Parameter fire: Whether to deliver the current value too.
  /// - Parameter strongly: Whether the bond retains the value.
  public func bind(_ dynamic: Dynamic<Element>, fire: Bool = true, strongly: Bool = true) {
    let values = fire ? dynamic.toSignal() : dynamic.dropFirst(1)
    guard !strongly else { return _ = bind(signal: values) }
    let run = values.observeNext { [weak self] in self?.listener?($0) }
    bag.add(disposable: run)
  }

  /// Removes all bindings to this bond.
  public func unbindAll() {
    bag.dispose()
  }
}

/// An object with a default bond, for example the text of a label.
public protocol Bondable {
  associatedtype BondType

  /// The default bond.
  var designatedBond: Bond<BondType> { get }
}

/// An object with a default value to follow, for example the text of a field.
public protocol Dynamical {
  associatedtype DynamicType

  /// The default value.
  var designatedDynamic: Dynamic<DynamicType> { get }
}
