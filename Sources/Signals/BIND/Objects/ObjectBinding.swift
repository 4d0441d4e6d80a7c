/// A binding of two objects by an expression: `name ~> textLabel.text | uppercase`.
///
/// Objects and expression may be set in any order and as often as one likes, as a view does that is
/// used again; it binds when all are there. It holds neither object. Dropping it does not end it: it
/// ends when it is unbound, or one of the objects goes.
package final class ObjectBinding: Disposable {
  /// The object of the left path.
  package private(set) weak var left: AnyObject?
  /// The object of the right path.
  package private(set) weak var right: AnyObject?
  /// What is bound to what.
  package private(set) var expression: BindExpression?

  private var transformer = Transformer<Any, Any>.identity
  private var binding: EndBinding<Any, Any>?
  private var failedBody: ((any Error) -> Void)?
  private var failures: (any Disposable)?
  private var transformBody: ((AnyObject, Any) throws -> Any)?
  private var observeBody: ((AnyObject, Any) -> Void)?
  private let live = LiveNode("ObjectBinding")

  package init() {}

  /// A binding by an expression; ``bind(left:right:)`` binds.
  package init(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) throws(BindFault) {
    try define(expression, transformers: transformers)
  }

  /// Sets what is bound to what, and binds if the objects are there.
  ///
  /// - Throws: What is wrong in the expression; then all stays as it was, or which key an object
  ///   has not; then nothing is bound.
  package func define(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) throws(BindFault) {
    let parsed = try BindExpression(expression)
    try define(parsed, through: transformers.transformer(for: parsed))
  }

  /// Sets what is bound to what and through which transformer, and binds if the objects are there.
  func define(
    _ expression: BindExpression, through transformer: Transformer<Any, Any>
  ) throws(BindFault) {
    self.expression = expression
    self.transformer = transformer
    try bind(left: left, right: right)
  }

  /// Binds two objects; those that were bound are unbound.
  ///
  /// - Throws: Which key an object has not, or why the values cannot go that way; then nothing is
  ///   bound.
  package func bind(left: AnyObject?, right: AnyObject?) throws(BindFault) {
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

  /// Lets go of both objects; expression, transformer and closures stay for the next ones.
  package func unbind() {
    let bound = binding
    binding = nil
    bound?.dispose()
    failures?.dispose()
    left = nil
    right = nil
  }

  /// Makes something of each value after the transformer, whichever way it goes; what was assigned
  /// at binding time is assigned again, if the operator assigns it.
  ///
  /// - Parameter body: Called with the object from which the value comes, and the value.
  @discardableResult
  package func transform(_ body: @escaping (AnyObject, Any) throws -> Any) -> Self {
    transformBody = body
    applyTransform()
    return self
  }

  /// Tells of each value that comes from an object, as it came; not of the one at binding time and
  /// not of what the binding itself has written.
  ///
  /// - Parameter body: Called with the object from which the value comes, and the value.
  @discardableResult
  package func observe(_ body: @escaping (AnyObject, Any) -> Void) -> Self {
    observeBody = body
    applyObserve()
    return self
  }

  /// Tells what prevented a value from being assigned; the binding stays.
  @discardableResult
  package func failed(_ body: @escaping (any Error) -> Void) -> Self {
    failedBody = body
    applyFailed()
    return self
  }

  /// Whether nothing is bound.
  package var isDisposed: Bool { binding?.isDisposed ?? true }

  package func dispose() {
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
