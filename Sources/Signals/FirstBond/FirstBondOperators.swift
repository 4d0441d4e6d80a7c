precedencegroup BondPrecedence {
  associativity: left
  higherThan: TernaryPrecedence
  lowerThan: LogicalDisjunctionPrecedence
}

infix operator ->> : BondPrecedence
infix operator ->| : BondPrecedence
infix operator <->> : BondPrecedence

/// The bond follows, from the present value on.
package func ->> <T>(left: Dynamic<T>, right: Bond<T>) {
  right.bind(left)
}

/// The bond follows, from the present value on.
package func ->> <T, Right: Bondable>(left: Dynamic<T>, right: Right) where Right.BondType == T {
  left ->> right.designatedBond
}

/// The bond follows, from the present value on.
package func ->> <Left: Dynamical>(left: Left, right: Bond<Left.DynamicType>) {
  left.designatedDynamic ->> right
}

/// The bond follows, from the present value on.
package func ->> <Left: Dynamical, Right: Bondable>(left: Left, right: Right)
where Left.DynamicType == Right.BondType {
  left.designatedDynamic ->> right.designatedBond
}

/// The other value follows, from the present value on.
package func ->> <T>(left: Dynamic<T>, right: Dynamic<T>) {
  left.bind(to: right)
}

/// The bond follows.
@_disfavoredOverload
package func ->> <Left: SignalProtocol>(left: Left, right: Bond<Left.Element>)
where Left.Error == Never {
  left.bind(to: right)
}

/// The bond follows.
@_disfavoredOverload
package func ->> <Left: SignalProtocol, Right: Bondable>(left: Left, right: Right)
where Left.Error == Never, Right.BondType == Left.Element {
  left.bind(to: right.designatedBond)
}

/// The bond follows, from the next value on.
package func ->| <T>(left: Dynamic<T>, right: Bond<T>) {
  right.bind(left, fire: false)
}

/// The bond follows, from the next value on.
package func ->| <T, Right: Bondable>(left: Dynamic<T>, right: Right) where Right.BondType == T {
  left ->| right.designatedBond
}

/// The bond follows, from the next value on.
package func ->| <Left: Dynamical>(left: Left, right: Bond<Left.DynamicType>) {
  left.designatedDynamic ->| right
}

/// The bond follows, from the next value on.
package func ->| <Left: Dynamical, Right: Bondable>(left: Left, right: Right)
where Left.DynamicType == Right.BondType {
  left.designatedDynamic ->| right.designatedBond
}

/// The other value follows, from the next value on.
package func ->| <T>(left: Dynamic<T>, right: Dynamic<T>) {
  left.dropFirst(1).bind(to: right)
}

/// Each follows the other; now the right one takes the value of the left one.
///
/// The right one holds the left one, and not the other way round.
package func <->> <T>(left: Dynamic<T>, right: Dynamic<T>) {
  left <> right
}

/// Each follows the other; now the right one takes the value of the left one.
package func <->> <T, Right: Dynamical>(left: Dynamic<T>, right: Right)
where Right.DynamicType == T {
  left <->> right.designatedDynamic
}

/// Each follows the other; now the right one takes the value of the left one.
package func <->> <T, Left: Dynamical>(left: Left, right: Dynamic<T>)
where Left.DynamicType == T {
  left.designatedDynamic <->> right
}

/// Each follows the other; now the right one takes the value of the left one.
package func <->> <Left: Dynamical, Right: Dynamical>(left: Left, right: Right)
where Left.DynamicType == Right.DynamicType {
  left.designatedDynamic <->> right.designatedDynamic
}
