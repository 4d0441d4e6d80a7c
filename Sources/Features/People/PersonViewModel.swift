internal import Signals

/// The view model of a person, with all properties as text.
final class PersonViewModel: BindViewModel {
  override class var bindings: [DeclaredBinding] {
    super.bindings + [
      BINDModel("name", <>, "name"),
      BINDModel("color", <>, "hexColorCode", "hexColor", in: PersonTransformers.all),
      BINDModel("id", ~>, "ID", "toString", in: PersonTransformers.all),
      BINDModel("past", ~>, "formerNames", "formerNames", in: PersonTransformers.all),
    ]
  }

  let ID = Property("")
  let name = Property("")
  let hexColorCode = Property("")
  let formerNames: Property<[String]>

  /// Reverses the name.
  let reverseNameCommand: any BindCommand

  /// Creates the view model.
  ///
  /// - Parameter formerNames: Names that are already known, shown until they have been read again.
  init(model: AnyObject?, formerNames: [String] = []) {
    self.formerNames = Property(formerNames)
    reverseNameCommand = BlockCommand { [weak name] in
      if let name { name.value = String(name.value.reversed()) }
    }
    super.init(model: model)
  }
}
