/// A property of an object that emits before and after it changes.
@propertyWrapper
public struct Published<Value> {
  private let property: Property<Value>
  private let willChangeSubject = PassthroughSubject<Void, Never>()

  public init(wrappedValue: Value) {
    property = Property(wrappedValue)
  }

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
    public typealias Element = Value
    public typealias Error = Never

    fileprivate let property: Property<Value>

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
