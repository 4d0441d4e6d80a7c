/// A binding of two objects by an expression: `name ~> textLabel.text | uppercase`.
///
/// Objects and expression can be set in any order and repeatedly, as a reused view does. The
/// binding starts when all are set. It retains neither object. Releasing it does not end it: it
/// ends when it is unbound, or when one of the objects goes away.
public final class ObjectBinding: Disposable {
  /// The object of the left path.
  public private(set) weak var left: AnyObject?
  /// The object of the right path.
  public private(set) weak var right: AnyObject?
  /// The bound expression.
  public private(set) var expression: BindExpression?

  private var transformer = Transformer<Any, Any>.identity
  private var binding: EndpointBinding<Any, Any>?
  private var failedBody: ((any Error) -> Void)?
  private var failures: (any Disposable)?
  private var transformBody: ((AnyObject, Any) throws -> Any)?
  private var observeBody: ((AnyObject, Any) -> Void)?
  private let live = LiveNode("ObjectBinding")

  /// Creates a binding without objects or an expression.
  public init() {}

  /// Creates a binding by an expression; ``bind(left:right:)`` starts it.
  public init(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) throws(BindFault) {
    try define(expression, transformers: transformers)
  }

  /// Sets the expression, and binds if the objects are set.
  ///
  /// - Throws: ``BindFault``. If the expression is invalid, nothing changes. If it does not fit the
  ///   objects, nothing is bound.
  public func define(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) throws(BindFault) {
    let parsed = try BindExpression(expression)
    try define(parsed, through: transformers.transformer(for: parsed))
  }

  /// Sets the expression and its transformer, and binds if the objects are set.
  func define(
    _ expression: BindExpression, through transformer: Transformer<Any, Any>
  ) throws(BindFault) {
    self.expression = expression
    self.transformer = transformer
    try bind(left: left, right: right)
  }

  /// Binds two objects, after unbinding the previous ones.
  ///
  /// - Throws: ``BindFault`` for an unknown key, or if values cannot go in that direction. Then
  ///   nothing is bound.
  public func bind(left: AnyObject?, right: AnyObject?) throws(BindFault) {
    unbind()
    self.left = left
    self.right = right
    guard let expression, let left, let right else { return }
    let leftEnd = try ObjectPath(expression.left, column: expression.leftColumn).end(in: left)
    let rightEnd =
      expression.isObservation
      ? BindEndpoint<Any>.nowhere
      : try ObjectPath(expression.right, column: expression.rightColumn).end(in: right)
    let binding: EndpointBinding<Any, Any>
    do {
      binding = try EndpointBinding(leftEnd, expression.operator, rightEnd, through: transformer)
    } catch {
      throw BindFault(
        .notBindable, "\(error)", at: expression.leftColumn, found: "\(expression)")
    }
    self.binding = binding
    applyTransform()
    applyObserve()
    applyFailed()
    binding.start()
  }

  /// Releases both objects.
  ///
  /// The expression, transformer and closures stay for the next ones.
  public func unbind() {
    let bound = binding
    binding = nil
    bound?.dispose()
    failures?.dispose()
    left = nil
    right = nil
  }

  /// Transforms each value after the transformer, in either direction.
  ///
  /// If the operator assigns a value at the start, a started binding assigns the current value
  /// again.
  ///
  /// - Parameter body: Called with the object that the value comes from, and the value.
  @discardableResult
  public func transform(_ body: @escaping (AnyObject, Any) throws -> Any) -> Self {
    transformBody = body
    applyTransform()
    return self
  }

  /// Calls `body` with each value that an object emits, before transformation.
  ///
  /// The current value at the start, and values written by the binding, are left out.
  ///
  /// - Parameter body: Called with the object that the value comes from, and the value.
  @discardableResult
  public func observe(_ body: @escaping (AnyObject, Any) -> Void) -> Self {
    observeBody = body
    applyObserve()
    return self
  }

  /// Calls `body` with each error that prevents an assignment.
  ///
  /// The binding stays.
  @discardableResult
  public func failed(_ body: @escaping (any Error) -> Void) -> Self {
    failedBody = body
    applyFailed()
    return self
  }

  /// Whether nothing is bound.
  public var isDisposed: Bool { binding?.isDisposed ?? true }

  /// Releases both objects, like ``unbind()``.
  public func dispose() {
    unbind()
  }

  private func applyTransform() {
    guard let transformBody, let binding else { return }
    binding.transform(
      right: { [weak left] value in try left.map { try transformBody($0, value) } ?? value },
      left: { [weak right] value in try right.map { try transformBody($0, value) } ?? value })
  }

  private func applyObserve() {
    guard let observeBody, let binding else { return }
    binding.observe(
      left: { [weak left] value in if let left { observeBody(left, value) } },
      right: { [weak right] value in if let right { observeBody(right, value) } })
  }

  private func applyFailed() {
    guard let failedBody, let binding else { return }
    failures?.dispose()
    failures = binding.failures.observeNext(with: failedBody)
  }
}

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
) -> EndpointBinding<LeftValue.BindValue, LeftValue.BindValue>
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
