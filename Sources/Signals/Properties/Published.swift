/// A property of an object that tells before and after it changes.
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

  /// The value as a signal: the present one, then each after it was set.
  package var projectedValue: Publisher { Publisher(property: property) }

  /// The value of a ``Published`` property as a signal.
  package struct Publisher: SignalProtocol {
    package typealias Element = Value
    package typealias Error = Never

    fileprivate let property: Property<Value>

    package func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
      property.observe(with: observer)
    }
  }
}

/// A ``Published`` property, without its type.
protocol PublishedProtocol {
  /// Emits before each change.
  var willChange: SafeSignal<Void> { get }
}

extension Published: PublishedProtocol {
  var willChange: SafeSignal<Void> { willChangeSubject.toSignal() }
}
