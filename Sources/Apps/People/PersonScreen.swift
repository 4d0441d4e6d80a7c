internal import Signals

/// The fields that show one person and take input; the person can be replaced by another.
final class PersonScreen: BindView {
  /// A text that is shown and that the client can edit.
  final class Field {
    let text = Property("")
  }

  override class var bindings: [ViewBinding] {
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

  /// Emits when the bindings have been made again.
  private let rebound = Property(())

  override func viewDidUpdateViewModel(_ viewModel: BindViewModel?) { rebound.value = () }

  /// Returns the text of a field, emitted after the model has received it, even if the model was
  /// replaced.
  ///
  /// So the position to wait for is that of the event that the model recorded.
  func text(in field: Field) -> SafeSignal<String> {
    rebound.toSignal().flatMapLatest { field.text.toSignal() }
  }

  /// Shows a model.
  ///
  /// The bindings of the previous model end.
  func show(_ model: AnyObject?) {
    viewModel = PersonViewModel(model: model)
  }

  /// Shows the same model again.
  ///
  /// Rejected input is discarded, and names already read stay.
  func showAgain() {
    guard let model = viewModel?.model else { return }
    viewModel = PersonViewModel(model: model, formerNames: formerNames.value)
  }

  /// Takes a colour from the client and shows it in its normal form.
  func type(color: String) throws {
    // A value that passes through a binding does not return through it, so it is normalized here.
    try edit { colorField.text.value = Color(hex: color)?.hex ?? color }
  }

  /// Runs an edit of the client.
  ///
  /// - Throws: The model's refusal; the fields then show the model's values again.
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
