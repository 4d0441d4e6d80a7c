/// A type with a default path, for example the text of a label or the tap of a button.
public protocol BindShorthand: AnyObject {
  /// The default path.
  static var bindShorthand: String { get }
}

/// Binds the default paths of two objects.
///
/// - Throws: ``BindFault`` for an invalid path or an unknown key.
@discardableResult
public func BINDS<Left: BindShorthand, Right: BindShorthand>(
  _ left: Left?, _ sign: BindSign, _ right: Right?
) throws(BindFault) -> ObjectBinding {
  try BIND(left, Left.bindShorthand, sign, right, Right.bindShorthand)
}

/// Binds a path of the left object to the default path of the right one.
///
/// - Throws: ``BindFault`` for an invalid path or an unknown key.
@discardableResult
public func BINDSR<Right: BindShorthand>(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: Right?
) throws(BindFault) -> ObjectBinding {
  try BIND(left, leftPath, sign, right, Right.bindShorthand)
}

/// Binds the default path of the left object to a path of the right one.
///
/// - Throws: ``BindFault`` for an invalid path or an unknown key.
@discardableResult
public func BINDSL<Left: BindShorthand>(
  _ left: Left?, _ sign: BindSign, _ right: AnyObject?, _ rightPath: String
) throws(BindFault) -> ObjectBinding {
  try BIND(left, Left.bindShorthand, sign, right, rightPath)
}

/// Observes the default path of an object.
///
/// - Throws: ``BindFault`` for an unknown key.
public func BINDOS<Object: BindShorthand>(_ object: Object?) throws(BindFault) -> ObjectBinding {
  try BINDO(object, Object.bindShorthand)
}
