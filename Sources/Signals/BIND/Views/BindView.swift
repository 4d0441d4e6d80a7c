/// A view that shows a view model, now this one and then another, by the bindings that its type
/// declares.
///
/// It holds its view model. The bindings hold neither, and end with the view.
open class BindView: DisposeBagProvider {
  /// The bindings of the type: the view model is on the left and the view on the right; where a path
  /// starts with `viewModel.`, the view is on both sides.
  ///
  /// A type that adds its own starts with those of its superclass: `super.bindings + […]`.
  open class var bindings: [DeclaredBinding] { [] }

  /// The bindings of this view: those of its type, unless it is given others.
  package lazy var bindings: [ObjectBinding] = Self.bindings.map { $0.binding() } {
    willSet { for binding in bindings { binding.unbind() } }
    didSet { bindAll() }
  }
  package let bag = DisposeBag()
  /// Found by paths as `viewModel`.
  private let _viewModel = Property<BindViewModel?>(nil)

  package init() {
    _viewModel.dropFirst(1).observeNext { [unowned self] viewModel in
      bindAll()
      viewDidUpdateViewModel(viewModel)
    }
    .dispose(in: bag)
  }

  deinit {
    for binding in bindings { binding.unbind() }
  }

  /// What is shown; setting it binds all bindings anew.
  package final var viewModel: BindViewModel? {
    get { _viewModel.value }
    set { _viewModel.value = newValue }
  }

  /// Called when another view model is shown and bound.
  open func viewDidUpdateViewModel(_ viewModel: BindViewModel?) {}

  private func bindAll() {
    for binding in bindings {
      binding.bindDeclared(
        left: binding.isWithinView ? self : viewModel, right: viewModel == nil ? nil : self)
    }
  }
}

extension ObjectBinding {
  /// Whether both paths are of the view.
  fileprivate var isWithinView: Bool {
    guard let expression else { return false }
    return [expression.left, expression.right].contains { $0.hasPrefix("viewModel.") }
  }
}
