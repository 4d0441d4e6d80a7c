// `~>` is declared by the standard library, and two declarations of an operator must agree: so all
// six are of its precedence.
infix operator <~ : DefaultPrecedence
infix operator <> : DefaultPrecedence
infix operator !~> : DefaultPrecedence
infix operator <~! : DefaultPrecedence
infix operator <!> : DefaultPrecedence

/// The right end takes the value of the left one, now and from now on.
@discardableResult
package func ~> <Left: BindSource, Right: BindTarget>(
  left: Left, right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .leftToRight, to: right)
}

/// The right end takes the values of the left one, from the next one on.
@discardableResult
package func !~> <Left: BindSource, Right: BindTarget>(
  left: Left, right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .leftToRightLater, to: right)
}

/// The left end takes the value of the right one, now and from now on.
@discardableResult
package func <~ <Left: BindTarget, Right: BindSource>(
  left: Left, right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, to: right, .rightToLeft)
}

/// The left end takes the values of the right one, from the next one on.
@discardableResult
package func <~! <Left: BindTarget, Right: BindSource>(
  left: Left, right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, to: right, .rightToLeftLater)
}

/// Each end takes the values of the other; now the right one takes the value of the left one.
@discardableResult
package func <> <Left: BindTarget, Right: BindTarget>(
  left: Left, right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .both, to: right)
}

/// Each end takes the values of the other, from the next one on.
@discardableResult
package func <!> <Left: BindTarget, Right: BindTarget>(
  left: Left, right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  bind(left, .bothLater, to: right)
}

/// The binding lives as long as the right end, and the left end as long as the binding.
private func bind<Left: BindSource, Right: BindTarget>(
  _ left: Left, _ sign: BindOperator, to right: Right
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  let binding = EndBinding(left.bindEnd(isHeld: true), sign, right.bindEnd(isHeld: false))
  right.disposeBag.add(disposable: binding)
  return binding.start()
}

/// The binding lives as long as the left end, and the right end as long as the binding.
private func bind<Left: BindTarget, Right: BindSource>(
  _ left: Left, to right: Right, _ sign: BindOperator
) -> EndBinding<Left.BindValue, Left.BindValue> where Left.BindValue == Right.BindValue {
  let binding = EndBinding(left.bindEnd(isHeld: false), sign, right.bindEnd(isHeld: true))
  left.disposeBag.add(disposable: binding)
  return binding.start()
}

extension BindTarget {
  /// Binds this end, as the left one, to a right one.
  ///
  /// The end to which values go, or the right one of two, is not held; the other is held for as
  /// long as that one lives.
  ///
  /// - Throws: When the transformer cannot go that way.
  @discardableResult
  package func bind<Right: BindTarget>(
    _ sign: BindOperator, _ right: Right,
    through transformer: Transformer<BindValue, Right.BindValue>
  ) throws(NotBindable) -> EndBinding<BindValue, Right.BindValue> {
    let owner = sign.goesRight ? right.disposeBag : disposeBag
    let binding = try EndBinding(
      bindEnd(isHeld: sign.goesRight), sign, right.bindEnd(isHeld: !sign.goesRight),
      through: transformer)
    owner.add(disposable: binding)
    return binding.start()
  }
}
