/// What a view shows, made from a model; it follows the model by the bindings that its type declares.
///
/// It may have children but makes none: a ``DataController`` does.
open class BindViewModel: DisposeBagProvider {
  /// The bindings of the type, the model on the left and the view model on the right.
  ///
  /// A type that adds its own starts with those of its superclass: `super.bindings + […]`.
  open class var bindings: [DeclaredBinding] { [] }

  /// What it is made from.
  package let model: AnyObject?
  /// The bindings to the model.
  package let bindings: [ObjectBinding]
  /// What it contains.
  package private(set) var children: [BindViewModel] = []
  package let bag = DisposeBag()

  package init(model: AnyObject?) {
    self.model = model
    bindings = Self.bindings.map { $0.binding() }
    for binding in bindings { binding.bindDeclared(left: model, right: self) }
  }

  deinit {
    for binding in bindings { binding.unbind() }
  }

  /// Which kind of view shows it; its type, unless it says otherwise.
  open var identifier: String { "\(type(of: self))" }

  /// Adds a child as the last.
  package func addChild(_ child: BindViewModel) {
    children.append(child)
  }

  /// Removes a child.
  package func removeChild(_ child: BindViewModel) {
    children.removeAll { $0 === child }
  }

  /// Removes all children.
  package func removeAllChildren() {
    children.removeAll()
  }
}
