internal import Signals

/// The view model of a person, with all properties as text.
final class PersonViewModel: BindViewModel {
  override class var bindings: [ViewBinding] {
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

/// The transformers used by the bindings of a person.
enum PersonTransformers {
  static var all: TransformerRegistry<Any> {
    var all = TransformerRegistry<Any>()
    all.register("toString") { (number: Int) in "\(number)" }
    all.register(HexColor.self, as: "hexColor")
    all.register(FormerNames.self, as: "formerNames")
    return all
  }
}

/// Converts between a colour and its hex code.
private struct HexColor: ReversibleValueTransformer {
  func transform(_ color: Color) -> String { color.hex }
  func reverse(_ hex: String) throws -> Color { try PeopleService.color(hex) }
}

/// Returns the former names of a person.
///
/// They are read from the journal, so the answer comes later.
private struct FormerNames: AsyncValueTransformer {
  func transform(
    _ past: PersonPast, answer: @escaping (Result<[String], any Error>) -> Void
  ) -> any Disposable {
    past.names().observe { event in
      switch event {
      case .next(let names): answer(.success(names))
      case .failed(let fault): answer(.failure(fault))
      case .completed: break
      }
    }
  }
}
