/// A property of an object that emits before and after it changes.
@propertyWrapper
package struct Published<Value> {
  private let property: Property<Value>
  private let willChangeSubject = PassthroughSubject<Void, Never>()

  package init(wrappedValue: Value) {
    property = Property(wrappedValue)
  }

  package var wrappedValue: Value {
    get { property.value }
    nonmutating set {
      willChangeSubject.send()
      property.value = newValue
    }
  }

  /// A signal of the current value, then of each new value.
  package var projectedValue: Publisher { Publisher(property: property) }

  /// The signal of a ``Published`` property.
  package struct Publisher: SignalProtocol {
    package typealias Element = Value
    package typealias Error = Never

    fileprivate let property: Property<Value>

    package func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
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
