// The BIND functions for two objects. They take paths and transformers as text, where the original
// BIND has macros that take code.

/// Binds a path of one object to a path of another.
///
/// - Throws: ``BindFault`` for an invalid path or an unknown key.
@discardableResult
public func BIND(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: AnyObject?,
  _ rightPath: String
) throws(BindFault) -> ObjectBinding {
  let binding = try ObjectBinding(expression(leftPath, sign, rightPath))
  try binding.bind(left: left, right: right)
  return binding
}

/// Binds a path of one object to a path of another, through registered transformers.
///
/// - Parameter transformer: The text after the first `|`: one transformer, or several separated by
///   `|`.
/// - Throws: ``BindFault`` for an invalid path, an unknown key or an unknown transformer.
@discardableResult
public func BINDT(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: AnyObject?,
  _ rightPath: String, _ transformer: String, in transformers: TransformerRegistry<Any>
) throws(BindFault) -> ObjectBinding {
  let binding = try ObjectBinding(
    expression(leftPath, sign, rightPath, transformer), transformers: transformers)
  try binding.bind(left: left, right: right)
  return binding
}

/// Binds a path of one object to a path of another, through a transformer with its directions
/// swapped.
///
/// - Throws: ``BindFault`` for an invalid path, an unknown key or an unknown transformer.
@discardableResult
public func BINDRT(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: AnyObject?,
  _ rightPath: String, _ transformer: String, in transformers: TransformerRegistry<Any>
) throws(BindFault) -> ObjectBinding {
  try BINDT(left, leftPath, sign, right, rightPath, "!" + transformer, in: transformers)
}

/// Observes a path of an object: `try BINDO(viewModel, "name").observe { … }`.
///
/// - Throws: ``BindFault`` for an unknown key.
public func BINDO(_ object: AnyObject?, _ path: String) throws(BindFault) -> ObjectBinding {
  let binding = ObjectBinding()
  try binding.define(BindExpression(observing: path), through: .identity)
  try binding.bind(left: object, right: object)
  return binding
}

/// Binds a key path of one object to a key path of another.
///
/// The end that receives values is not retained, nor is the right one if both do. The other end is
/// retained.
@discardableResult
public func BIND<Left, LeftValue: BindTarget, Right, RightValue: BindTarget>(
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
