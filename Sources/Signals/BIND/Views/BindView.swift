/// A view that shows a replaceable view model, through the bindings that its type declares.
///
/// It retains its view model. The bindings retain neither, and end with the view.
open class BindView: DisposeBagProvider {
  /// The bindings of the type, with the view model on the left and the view on the right.
  ///
  /// If a path starts with `viewModel.`, the view is on both sides.
  ///
  /// A subclass appends its bindings to those of its superclass: `super.bindings + […]`.
  open class var bindings: [DeclaredBinding] { [] }

  /// The bindings of this view; initially those of its type.
  public lazy var bindings: [ObjectBinding] = Self.bindings.map { $0.binding() } {
    willSet { for binding in bindings { binding.unbind() } }
    didSet { bindAll() }
  }
  public let bag = DisposeBag()
  /// Paths find this property as `viewModel`.
  private let _viewModel = Property<BindViewModel?>(nil)

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
