/// The content of a view, derived from a model through the bindings that its type declares.
///
/// It can have children but does not create them; the code that loads the model does.
open class BindViewModel: DisposeBagProvider {
  /// The bindings of the type, with the model on the left and the view model on the right.
  ///
  /// A subclass appends its bindings to those of its superclass: `super.bindings + […]`.
  open class var bindings: [DeclaredBinding] { [] }

  /// The source of the content.
  public let model: AnyObject?
  /// The bindings to the model.
  public let bindings: [ObjectBinding]
  /// The nested view models.
  public private(set) var children: [BindViewModel] = []
  /// The bag that is disposed with this object.
  public let bag = DisposeBag()

  /// Creates a view model, and binds it to the model if there is one.
  public init(model: AnyObject?) {
    self.model = model
    bindings = Self.bindings.map { $0.binding() }
    for binding in bindings { binding.bindDeclared(left: model, right: self) }
  }

  deinit {
    for binding in bindings { binding.unbind() }
  }

  /// Identifies the kind of view that shows it; the type name by default.
  open var identifier: String { "\(type(of: self))" }

  /// Appends a child.
  public func addChild(_ child: BindViewModel) {
    children.append(child)
  }

  /// Removes a child.
  public func removeChild(_ child: BindViewModel) {
    children.removeAll { $0 === child }
  }

  /// Removes all children.
  public func removeAllChildren() {
    children.removeAll()
  }
}
