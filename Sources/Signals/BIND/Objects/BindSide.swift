/// A placeholder operand, so that an operator can be an argument: `BIND(a, "x", ~>, b, "y")`.
public enum BindSide {
  case left
  case right
}

/// One of the six operators, as an argument.
public typealias BindSign = (BindSide, BindSide) -> BindOperator

/// Returns the operator `~>`.
public func ~> (left: BindSide, right: BindSide) -> BindOperator { .leftToRight }
/// Returns the operator `<~`.
public func <~ (left: BindSide, right: BindSide) -> BindOperator { .rightToLeft }
/// Returns the operator `<>`.
public func <> (left: BindSide, right: BindSide) -> BindOperator { .both }
/// Returns the operator `!~>`.
public func !~> (left: BindSide, right: BindSide) -> BindOperator { .leftToRightLater }
/// Returns the operator `<~!`.
public func <~! (left: BindSide, right: BindSide) -> BindOperator { .rightToLeftLater }
/// Returns the operator `<!>`.
public func <!> (left: BindSide, right: BindSide) -> BindOperator { .bothLater }

/// Returns the text of an expression.
func expression(
  _ left: String, _ sign: BindSign, _ right: String, _ transformers: String? = nil
) -> String {
  let bound = "\(left) \(sign(.left, .right).rawValue) \(right)"
  return transformers.map { "\(bound) | \($0)" } ?? bound
}
