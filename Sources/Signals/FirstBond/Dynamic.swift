/// A value that bonds follow.
public class Dynamic<Value>: ValueNode<Value> {
  public override init(_ value: Value) {
    super.init(value)
  }

  /// The current value; setting it notifies all bonds, even during a delivery.
  public final var value: Value {
    get { stored }
    set { on(.next(newValue)) }
  }

  /// Returns a value that is always `transform` of this one; it retains this one.
  public final func map<Output>(_ transform: @escaping (Value) -> Output) -> Dynamic<Output> {
    let derived = Dynamic<Output>(transform(value))
    dropFirst(1).map(transform).bind(to: derived)
    return derived
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
