/// A type with a path that is meant when none is said: the text of a label, the tap of a button.
package protocol BindShorthand: AnyObject {
  /// The path.
  static var bindShorthand: String { get }
}

/// Binds two objects by what is meant when nothing is said.
///
/// - Throws: What is wrong in a path.
@discardableResult
package func BINDS<Left: BindShorthand, Right: BindShorthand>(
  _ left: Left?, _ sign: BindSign, _ right: Right?
) throws(BindFault) -> ObjectBinding {
  try BIND(left, Left.bindShorthand, sign, right, Right.bindShorthand)
}

/// Binds two objects, the right one by what is meant when nothing is said.
///
/// - Throws: What is wrong in a path.
@discardableResult
package func BINDSR<Right: BindShorthand>(
  _ left: AnyObject?, _ leftPath: String, _ sign: BindSign, _ right: Right?
) throws(BindFault) -> ObjectBinding {
  try BIND(left, leftPath, sign, right, Right.bindShorthand)
}

/// Binds two objects, the left one by what is meant when nothing is said.
///
/// - Throws: What is wrong in a path.
@discardableResult
package func BINDSL<Left: BindShorthand>(
  _ left: Left?, _ sign: BindSign, _ right: AnyObject?, _ rightPath: String
) throws(BindFault) -> ObjectBinding {
  try BIND(left, Left.bindShorthand, sign, right, rightPath)
}

/// Observes what is meant when nothing is said.
///
/// - Throws: What is wrong in the path.
package func BINDOS<Object: BindShorthand>(_ object: Object?) throws(BindFault) -> ObjectBinding {
  try BINDO(object, Object.bindShorthand)
}
