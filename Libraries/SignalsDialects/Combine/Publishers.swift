public import Signals

/// A signal that creates its source separately for each observer.
public struct Deferred<DeferredSignal: SignalProtocol>: SignalProtocol {
  /// The type of the elements.
  public typealias Element = DeferredSignal.Element
  /// The type of the failure.
  public typealias Error = DeferredSignal.Error

  /// Creates the source of one run.
  public let signalFactory: () -> DeferredSignal

  /// Creates a signal from the closure that creates its source.
  public init(signalFactory: @escaping () -> DeferredSignal) {
    self.signalFactory = signalFactory
  }

  /// Starts a run that sends its events to the observer.
  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    signalFactory().observe(with: observer)
  }
}

/// A signal without elements that completes at once or never.
public struct Empty<Element, Error: Swift.Error>: SignalProtocol, Equatable {
  /// Whether the signal completes at once; otherwise it never ends.
  public let completeImmediately: Bool

  /// Creates a signal that completes at once, or never.
  public init(completeImmediately: Bool = true) {
    self.completeImmediately = completeImmediately
  }

  /// Creates the signal with its types as arguments.
  public init(
    completeImmediately: Bool = true, outputType: Element.Type, failureType: Error.Type
  ) {
    self.init(completeImmediately: completeImmediately)
  }

  /// Starts a run that sends its events to the observer.
  public func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable {
    let signal: Signal<Element, Error> = completeImmediately ? .completed() : .never()
    return signal.observe(with: observer)
  }
}

/// A property of an object that emits before and after it changes.
@propertyWrapper
public struct Published<Value> {
  private let property: Property<Value>
  private let willChangeSubject = PassthroughSubject<Void, Never>()

  /// Creates a property with an initial value.
  public init(wrappedValue: Value) {
    property = Property(wrappedValue)
  }

  /// The current value; setting it emits before and after the change.
  public var wrappedValue: Value {
    get { property.value }
    nonmutating set {
      willChangeSubject.send()
      property.value = newValue
    }
  }

  /// A signal of the current value, then of each new value.
  public var projectedValue: Publisher { Publisher(property: property) }

  /// The signal of a ``Published`` property.
  public struct Publisher: SignalProtocol {
    /// The type of the elements.
    public typealias Element = Value
    /// The type of the failure.
    public typealias Error = Never

    fileprivate let property: Property<Value>

    /// Starts a run that sends its events to the observer.
    public func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
      property.observe(with: observer)
    }
  }
}

/// A ``Published`` property without its type.
protocol PublishedProtocol {
  /// Emits before each change.
  var willChange: SafeSignal<Void> { get }
}

extension Published: PublishedProtocol {
  var willChange: SafeSignal<Void> { willChangeSubject.toSignal() }
}

extension Published: BindSource {
  /// The type of the bound values.
  public typealias BindValue = Value

  /// Returns the end.
  ///
  /// It always retains the property, but never the object that contains it.
  public func bindEnd(isHeld: Bool) -> BindEndpoint<Value> {
    BindEndpoint(
      read: { wrappedValue }, write: { wrappedValue = $0 }, values: projectedValue.toSignal())
  }
}

/// An object that emits before it changes.
///
/// By default it emits before each change of its ``Published`` properties.
public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangeSignal: SignalProtocol = SafeSignal<Void>
  where ObjectWillChangeSignal.Error == Never

  /// Emits before each change.
  var objectWillChange: ObjectWillChangeSignal { get }
}

extension ObservableObject where ObjectWillChangeSignal == SafeSignal<Void> {
  /// Emits before each change of a ``Published`` property of the object.
  public var objectWillChange: SafeSignal<Void> {
    var changes: [SafeSignal<Void>] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let present = mirror {
      changes += present.children.compactMap { ($0.value as? any PublishedProtocol)?.willChange }
      mirror = present.superclassMirror
    }
    return Signal(flattening: changes, strategy: .merge)
  }
}
