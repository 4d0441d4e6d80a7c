// The standard library declares `~>` with the default precedence, and a second declaration must
// match. All six operators use the same precedence.
infix operator <~ : DefaultPrecedence
infix operator <> : DefaultPrecedence
infix operator !~> : DefaultPrecedence
infix operator <~! : DefaultPrecedence
infix operator <!> : DefaultPrecedence

/// Binds the right end to the left one: it takes the current value, then each later one.
@discardableResult
public func ~> <Left: BindSource, Right: BindTarget>(
  left: Left, right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .leftToRight, to: right)
}

/// Binds the right end to the left one, from the next value on.
@discardableResult
public func !~> <Left: BindSource, Right: BindTarget>(
  left: Left, right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .leftToRightLater, to: right)
}

/// Binds the left end to the right one: it takes the current value, then each later one.
@discardableResult
public func <~ <Left: BindTarget, Right: BindSource>(
  left: Left, right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, to: right, .rightToLeft)
}

/// Binds the left end to the right one, from the next value on.
@discardableResult
public func <~! <Left: BindTarget, Right: BindSource>(
  left: Left, right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, to: right, .rightToLeftLater)
}

/// Binds both ends to each other.
///
/// First the right one takes the value of the left one.
@discardableResult
public func <> <Left: BindTarget, Right: BindTarget>(
  left: Left, right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .both, to: right)
}

/// Binds both ends to each other, from the next value on.
@discardableResult
public func <!> <Left: BindTarget, Right: BindTarget>(
  left: Left, right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .bothLater, to: right)
}

/// The right end owns the binding.
///
/// The binding retains the left end.
private func bind<Left: BindSource, Right: BindTarget>(
  _ left: Left, _ sign: BindOperator, to right: Right
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  let binding = EndpointBinding(left.bindEnd(isHeld: true), sign, right.bindEnd(isHeld: false))
  right.disposeBag.add(disposable: binding)
  return binding.start()
}

/// The left end owns the binding.
///
/// The binding retains the right end.
private func bind<Left: BindTarget, Right: BindSource>(
  _ left: Left, to right: Right, _ sign: BindOperator
) -> EndpointBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  let binding = EndpointBinding(left.bindEnd(isHeld: false), sign, right.bindEnd(isHeld: true))
  left.disposeBag.add(disposable: binding)
  return binding.start()
}

extension BindTarget {
  /// Binds this end, as the left one, to a right one.
  ///
  /// The receiving end owns the binding, or the right one if both receive; it is not retained. The
  /// binding retains the other end.
  ///
  /// - Throws: ``NotBindable`` if values cannot go in that direction.
  @discardableResult
  public func bind<Right: BindTarget>(
    _ sign: BindOperator, _ right: Right,
    through transformer: Transformer<BindValue, Right.BindValue>
  ) throws(NotBindable) -> EndpointBinding<BindValue, Right.BindValue> {
    let owner = sign.goesRight ? right.disposeBag : disposeBag
    let binding = try EndpointBinding(
      bindEnd(isHeld: sign.goesRight), sign, right.bindEnd(isHeld: !sign.goesRight),
      through: transformer)
    owner.add(disposable: binding)
    return binding.start()
  }
}
