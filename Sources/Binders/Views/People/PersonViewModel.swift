internal import Signals

/// A person as the view of one wants it: all of it text.
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

  /// Turns the name round.
  let reverseNameCommand: any BindCommand

  /// - Parameter formerNames: Those that are known already; they are read anyway.
  init(model: AnyObject?, formerNames: [String] = []) {
    self.formerNames = Property(formerNames)
    reverseNameCommand = BlockCommand { [weak name] in
      if let name { name.value = String(name.value.reversed()) }
    }
    super.init(model: model)
  }
}
