/// A view that shows a replaceable view model, through the bindings that its type declares.
///
/// It retains its view model. The bindings retain neither, and end with the view.
open class BindView: DisposeBagProvider {
  /// The bindings of the type, with the view model on the left and the view on the right.
  ///
  /// If a path starts with `viewModel.`, the view is on both sides.
  ///
  /// A subclass appends its bindings to those of its superclass: `super.bindings + […]`.
  open class var bindings: [ViewBinding] { [] }

  /// The bindings of this view; initially those of its type.
  public lazy var bindings: [ObjectBinding] = Self.bindings.map { $0.binding() } {
    willSet { for binding in bindings { binding.unbind() } }
    didSet { bindAll() }
  }
  /// The bag that is disposed with this object.
  public let bag = DisposeBag()
  /// Paths find this property as `viewModel`.
  private let _viewModel = Property<BindViewModel?>(nil)

  /// Creates a view without a view model.
  public init() {
    _viewModel.dropFirst(1).observeNext { [unowned self] viewModel in
      bindAll()
      viewDidUpdateViewModel(viewModel)
    }
    .dispose(in: bag)
  }

  deinit {
    for binding in bindings { binding.unbind() }
  }

  /// The shown view model.
  ///
  /// Setting it binds all bindings again.
  public final var viewModel: BindViewModel? {
    get { _viewModel.value }
    set { _viewModel.value = newValue }
  }

  /// Called after another view model is set and bound.
  open func viewDidUpdateViewModel(_ viewModel: BindViewModel?) {}

  private func bindAll() {
    for binding in bindings {
      binding.bindDeclared(
        left: binding.isWithinView ? self : viewModel, right: viewModel == nil ? nil : self)
    }
  }
}

extension ObjectBinding {
  /// Whether a path goes through the view's own `viewModel`.
  fileprivate var isWithinView: Bool {
    guard let expression else { return false }
    return [expression.left, expression.right].contains { $0.hasPrefix("viewModel.") }
  }
}

/// The content of a view, derived from a model through the bindings that its type declares.
///
/// It can have children but does not create them; the code that loads the model does.
open class BindViewModel: DisposeBagProvider {
  /// The bindings of the type, with the model on the left and the view model on the right.
  ///
  /// A subclass appends its bindings to those of its superclass: `super.bindings + […]`.
  open class var bindings: [ViewBinding] { [] }

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

// `public`, as ``BindView`` and ``BindViewModel`` are `open`, because other modules of the package
// subclass those classes.

/// A binding that a type declares for each of its instances.
public struct ViewBinding {
  private let make: () throws(BindFault) -> ObjectBinding

  /// Creates a binding by an expression.
  public init(
    _ expression: String, transformers: TransformerRegistry<Any> = TransformerRegistry()
  ) {
    make = { () throws(BindFault) in try ObjectBinding(expression, transformers: transformers) }
  }

  private init(make: @escaping () throws(BindFault) -> ObjectBinding) {
    self.make = make
  }

  /// Returns the same binding with a transformation of each value after the transformer.
  public func transform(_ body: @escaping (AnyObject, Any) throws -> Any) -> ViewBinding {
    ViewBinding { () throws(BindFault) in try make().transform(body) }
  }

  /// Returns the same binding with an observer of each value.
  public func observe(_ body: @escaping (AnyObject, Any) -> Void) -> ViewBinding {
    ViewBinding { () throws(BindFault) in try make().observe(body) }
  }

  /// Creates the binding for one instance.
  ///
  /// An invalid declaration is a programming error and traps.
  func binding() -> ObjectBinding {
    do {
      return try make()
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

/// Declares a binding from a path of the view model to a path of the view.
public func BINDViewModel(
  _ viewModelPath: String, _ sign: BindSign, _ viewPath: String, _ transformer: String? = nil,
  in transformers: TransformerRegistry<Any> = TransformerRegistry()
) -> ViewBinding {
  ViewBinding(
    expression(viewModelPath, sign, viewPath, transformer), transformers: transformers)
}

/// Declares a binding from a path of the model to a path of the view model.
public func BINDModel(
  _ modelPath: String, _ sign: BindSign, _ viewModelPath: String, _ transformer: String? = nil,
  in transformers: TransformerRegistry<Any> = TransformerRegistry()
) -> ViewBinding {
  ViewBinding(
    expression(modelPath, sign, viewModelPath, transformer), transformers: transformers)
}

/// Declares that each action of the view executes a command of the view model.
public func BINDViewModelCommand(
  _ commandPath: String, _ actionPath: String
) -> ViewBinding {
  ViewBinding(expression(commandPath, <~!, actionPath))
}

extension ObjectBinding {
  /// Binds as declared.
  ///
  /// If a declared key is missing, it traps as a programming error.
  func bindDeclared(left: AnyObject?, right: AnyObject?) {
    do {
      try bind(left: left, right: right)
    } catch {
      preconditionFailure("\(error), in '\(expression?.description ?? "")'")
    }
  }
}
