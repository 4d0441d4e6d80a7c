/// A value that bonds follow.
package class Dynamic<Value>: ValueNode<Value> {
  package override init(_ value: Value) {
    super.init(value)
  }

  /// The value; setting it tells all bonds, also while they are being told.
  package final var value: Value {
    get { stored }
    set { on(.next(newValue)) }
  }

  /// What is always `transform` of this one; it holds this one.
  package final func map<Output>(_ transform: @escaping (Value) -> Output) -> Dynamic<Output> {
    let derived = Dynamic<Output>(transform(value))
    dropFirst(1).map(transform).bind(to: derived)
    return derived
  }
}

/// What is always `transform` of a value.
package func map<Value, Output>(
  _ dynamic: Dynamic<Value>, _ transform: @escaping (Value) -> Output
) -> Dynamic<Output> {
  dynamic.map(transform)
}

extension Bond {
  /// Follows a value, for as long as the bond lives.
  ///
  /// - Parameter fire: Whether the present value counts.
  /// - Parameter strongly: Whether the bond holds what it follows.
  package func bind(_ dynamic: Dynamic<Element>, fire: Bool = true, strongly: Bool = true) {
    let values = fire ? dynamic.toSignal() : dynamic.dropFirst(1)
    guard !strongly else { return _ = bind(signal: values) }
    let run = values.observeNext { [weak self] in self?.listener?($0) }
    bag.add(disposable: run)
  }

  /// Follows nothing more.
  package func unbindAll() {
    bag.dispose()
  }
}
