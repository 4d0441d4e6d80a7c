/// What stands for a side of an operator where the operator itself is meant: `BIND(a, "x", ~>, b, "y")`.
package enum BindSide {
  case left
  case right
}

/// One of the six operators as an argument.
package typealias BindSign = (BindSide, BindSide) -> BindOperator

/// The operator itself.
package func ~> (left: BindSide, right: BindSide) -> BindOperator { .leftToRight }
/// The operator itself.
package func <~ (left: BindSide, right: BindSide) -> BindOperator { .rightToLeft }
/// The operator itself.
package func <> (left: BindSide, right: BindSide) -> BindOperator { .both }
/// The operator itself.
package func !~> (left: BindSide, right: BindSide) -> BindOperator { .leftToRightLater }
/// The operator itself.
package func <~! (left: BindSide, right: BindSide) -> BindOperator { .rightToLeftLater }
/// The operator itself.
package func <!> (left: BindSide, right: BindSide) -> BindOperator { .bothLater }

/// The text of an expression.
func expression(
  _ left: String, _ sign: BindSign, _ right: String, _ transformers: String? = nil
) -> String {
  let bound = "\(left) \(sign(.left, .right).rawValue) \(right)"
  return transformers.map { "\(bound) | \($0)" } ?? bound
}
