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
  private var binding: EndBinding<Any, Any>?
  private var failedBody: ((any Error) -> Void)?
  private var failures: (any Disposable)?
  private var transformBody: ((AnyObject, Any) throws -> Any)?
  private var observeBody: ((AnyObject, Any) -> Void)?
  private let live = LiveNode("ObjectBinding")

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
      ? BindEnd<Any>.nowhere
      : try ObjectPath(expression.right, column: expression.rightColumn).end(in: right)
    let binding: EndBinding<Any, Any>
    do {
      binding = try EndBinding(leftEnd, expression.operator, rightEnd, through: transformer)
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
