public import Signals

precedencegroup BondPrecedence {
  associativity: left
  higherThan: TernaryPrecedence
  lowerThan: LogicalDisjunctionPrecedence
}

infix operator ->> : BondPrecedence
infix operator ->| : BondPrecedence
infix operator <->> : BondPrecedence

/// Makes the bond follow the value, starting with the current one.
public func ->> <T>(left: Dynamic<T>, right: Bond<T>) {
  right.bind(left)
}

/// Makes the bond follow the value, starting with the current one.
public func ->> <T, Right: Bondable>(left: Dynamic<T>, right: Right) where Right.BondType == T {
  left ->> right.designatedBond
}

/// Makes the bond follow the value, starting with the current one.
public func ->> <Left: Dynamical>(left: Left, right: Bond<Left.DynamicType>) {
  left.designatedDynamic ->> right
}

/// Makes the bond follow the value, starting with the current one.
public func ->> <Left: Dynamical, Right: Bondable>(left: Left, right: Right)
where Left.DynamicType == Right.BondType {
  left.designatedDynamic ->> right.designatedBond
}

/// Makes the right value follow the left one, starting with the current value.
public func ->> <T>(left: Dynamic<T>, right: Dynamic<T>) {
  left.bind(to: right)
}

/// Makes the bond follow the signal.
@_disfavoredOverload
public func ->> <Left: SignalProtocol>(left: Left, right: Bond<Left.Element>)
where Left.Error == Never {
  left.bind(to: right)
}

/// Makes the bond follow the signal.
@_disfavoredOverload
public func ->> <Left: SignalProtocol, Right: Bondable>(left: Left, right: Right)
where Left.Error == Never, Right.BondType == Left.Element {
  left.bind(to: right.designatedBond)
}

/// Makes the bond follow the value, starting with the next one.
public func ->| <T>(left: Dynamic<T>, right: Bond<T>) {
  right.bind(left, fire: false)
}

/// Makes the bond follow the value, starting with the next one.
public func ->| <T, Right: Bondable>(left: Dynamic<T>, right: Right) where Right.BondType == T {
  left ->| right.designatedBond
}

/// Makes the bond follow the value, starting with the next one.
public func ->| <Left: Dynamical>(left: Left, right: Bond<Left.DynamicType>) {
  left.designatedDynamic ->| right
}

/// Makes the bond follow the value, starting with the next one.
public func ->| <Left: Dynamical, Right: Bondable>(left: Left, right: Right)
where Left.DynamicType == Right.BondType {
  left.designatedDynamic ->| right.designatedBond
}

/// Makes the right value follow the left one, starting with the next value.
public func ->| <T>(left: Dynamic<T>, right: Dynamic<T>) {
  left.dropFirst(1).bind(to: right)
}

/// Makes both values follow each other; the right one first takes the value of the left one.
///
/// The right value retains the left one, but not vice versa.
public func <->> <T>(left: Dynamic<T>, right: Dynamic<T>) {
  left <> right
}

/// Makes both values follow each other; the right one first takes the value of the left one.
public func <->> <T, Right: Dynamical>(left: Dynamic<T>, right: Right)
where Right.DynamicType == T {
  left <->> right.designatedDynamic
}

/// Makes both values follow each other; the right one first takes the value of the left one.
public func <->> <T, Left: Dynamical>(left: Left, right: Dynamic<T>)
where Left.DynamicType == T {
  left.designatedDynamic <->> right
}

/// Makes both values follow each other; the right one first takes the value of the left one.
public func <->> <Left: Dynamical, Right: Dynamical>(left: Left, right: Right)
where Left.DynamicType == Right.DynamicType {
  left.designatedDynamic <->> right.designatedDynamic
}
