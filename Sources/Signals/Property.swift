/// A value that can be read now and observed from now on.
///
/// An observer is told the present value at once, then every later one, and of the end when the
/// property goes.
package final class Property<Value>: SignalProtocol {
  package typealias Element = Value
  package typealias Error = Never

  private let subject = PassthroughSubject<Value, Never>()
  private var stored: Value

  package init(_ value: Value) {
    stored = value
  }

  deinit {
    subject.on(.completed)
  }

  /// The value; whoever is told of a new one reads the new one.
  package var value: Value {
    get { stored }
    set {
      stored = newValue
      subject.send(newValue)
    }
  }

  /// Changes the value in place and tells of it once.
  ///
  /// A large value is not copied, as it is by `value = …`.
  package func update<Result>(_ body: (inout Value) -> Result) -> Result {
    let result = body(&stored)
    if subject.hasObservers { subject.send(stored) }
    return result
  }

  package func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
    observer(.next(stored))
    return subject.observe(with: observer)
  }
}
