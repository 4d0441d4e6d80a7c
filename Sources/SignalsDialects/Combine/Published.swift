public import Signals

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
  public func bindEnd(isHeld: Bool) -> BindEnd<Value> {
    BindEnd(
      read: { wrappedValue }, write: { wrappedValue = $0 }, values: projectedValue.toSignal())
  }
}
