// The words of BIND for binding two objects. Where BIND has a macro that takes code, this takes the
// same as text.

/// Binds a path of an object to a path of another.
///
/// - Throws: What is wrong in a path or a name.
@discardableResult
package func BIND(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: AnyObject?,
  _ rightPath: String
) throws(BindFault) -> ObjectBinding {
  let binding = try ObjectBinding(expression(leftPath, sign, rightPath))
  try binding.bind(left: left, right: right)
  return binding
}

/// Binds a path of an object to a path of another, through transformers of a registry.
///
/// - Parameter transformer: What stands after the `|`, which may be several with `|` between them.
/// - Throws: What is wrong in a path or a name.
@discardableResult
package func BINDT(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: AnyObject?,
  _ rightPath: String, _ transformer: String, in transformers: TransformerRegistry<Any>
) throws(BindFault) -> ObjectBinding {
  let binding = try ObjectBinding(
    expression(leftPath, sign, rightPath, transformer), transformers: transformers)
  try binding.bind(left: left, right: right)
  return binding
}

/// Binds a path of an object to a path of another, through a transformer the other way round.
///
/// - Throws: What is wrong in a path or a name.
@discardableResult
package func BINDRT(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: AnyObject?,
  _ rightPath: String, _ transformer: String, in transformers: TransformerRegistry<Any>
) throws(BindFault) -> ObjectBinding {
  try BINDT(left, leftPath, sign, right, rightPath, "!" + transformer, in: transformers)
}

/// Observes a path of an object: `try BINDO(viewModel, "name").observe { … }`.
///
/// - Throws: What is wrong in the path.
package func BINDO(_ object: AnyObject?, _ path: String) throws(BindFault) -> ObjectBinding {
  let binding = ObjectBinding()
  try binding.define(BindExpression(observing: path), through: .identity)
  try binding.bind(left: object, right: object)
  return binding
}

/// Binds a path of an object to a path of another, both known to the compiler.
///
/// The right value, or the left one when values go left only, is not held; the other is.
@discardableResult
package func BIND<Left, LeftValue: BindTarget, Right, RightValue: BindTarget>(
  _ left: Left, _ leftPath: KeyPath<Left, LeftValue>, _ sign: BindSign, _ right: Right,
  _ rightPath: KeyPath<Right, RightValue>
) -> EndBinding<LeftValue.BindValue, LeftValue.BindValue>
where LeftValue.BindValue == RightValue.BindValue {
  let (left, right) = (left[keyPath: leftPath], right[keyPath: rightPath])
  return switch sign(.left, .right) {
  case .leftToRight: left ~> right
  case .rightToLeft: left <~ right
  case .both: left <> right
  case .leftToRightLater: left !~> right
  case .rightToLeftLater: left <~! right
  case .bothLater: left <!> right
  }
}
