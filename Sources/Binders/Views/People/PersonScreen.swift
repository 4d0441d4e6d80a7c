internal import Services
internal import Signals

/// What a client sees of a person and what it types: now of this one, and then of another.
final class PersonScreen: BindView {
  /// Text that is shown, and that the client may type into.
  final class Field {
    let text = Property("")
  }

  override class var bindings: [DeclaredBinding] {
    super.bindings + [
      BINDViewModel("ID", ~>, "idLabel.text"),
      BINDViewModel("name", <>, "nameField.text"),
      BINDViewModel("hexColorCode", <>, "colorField.text"),
      BINDViewModel("formerNames", ~>, "formerNames"),
      BINDViewModelCommand("reverseNameCommand", "onReverseName"),
    ]
  }

  let idLabel = Field()
  let nameField = Field()
  let colorField = Field()
  let formerNames = Property([String]())
  let onReverseName = PassthroughSubject<Void, Never>()

  /// Tells that the bindings are made anew.
  private let rebound = Property(())

  override func viewDidUpdateViewModel(_ viewModel: BindViewModel?) { rebound.value = () }

  /// What stands in a field, told after the model has heard of it, also when that is another one
  /// meanwhile: so that the position to wait for is that of the event it has recorded.
  func text(in field: Field) -> SafeSignal<String> {
    rebound.toSignal().flatMapLatest { field.text.toSignal() }
  }

  /// Shows a model; what showed another is bound to this one, and to that no more.
  func show(_ model: AnyObject?) {
    viewModel = PersonViewModel(model: model)
  }

  /// Shows the same model again: what was typed and not taken goes, and what was read stays.
  func showAgain() {
    guard let model = viewModel?.model else { return }
    viewModel = PersonViewModel(model: model, formerNames: formerNames.value)
  }

  /// Takes a colour that was typed, and shows it as everybody else sees it: in its normal form.
  func type(color: String) throws {
    // What goes through a binding does not come back through it.
    try edit { colorField.text.value = Color(hex: color)?.hex ?? color }
  }

  /// Does what the client asks.
  ///
  /// - Throws: What the model has refused; then it is shown as it was.
  func edit(_ body: () -> Void) throws {
    var refusal: (any Error)?
    for binding in viewModel?.bindings ?? [] {
      binding.failed { if refusal == nil { refusal = $0 } }
    }
    body()
    guard let refusal else { return }
    showAgain()
    throw refusal
  }
}
