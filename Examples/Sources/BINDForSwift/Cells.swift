import Signals

// UI Bindings: a type declares its bindings. A view binds its view model, a view model its model.

final class PersonNameCell: BindTableViewCell {
  override class var bindings: [ViewBinding] {
    [
      BINDViewModel("name", ~>, "textLabel.text"),
      BINDViewModel("ID", ~>, "detailTextLabel.text"),
      BINDViewModelCommand("reverseNameCommand", "onTouchUpInside"),
    ]
  }
}

final class PersonNameViewModel: BindViewModel {
  override class var bindings: [ViewBinding] {
    [
      BINDModel("fullName", <>, "name"),
      BINDModel("hexColorCode", <>, "hexColorCode"),
      BINDModel("ID.stringValue", ~>, "ID"),
    ]
  }

  let name = Property("")
  let hexColorCode = Property("")
  let ID = Property("")
  let reverseNameCommand: any BindCommand

  override init(model: AnyObject?) {
    reverseNameCommand = BlockCommand { [weak name] in
      if let name { name.value = String(name.value.reversed()) }
    }
    super.init(model: model)
  }
}

final class Person {
  struct Number {
    let stringValue: String
  }

  let fullName: Property<String>
  let hexColorCode: Property<String>
  let ID: Number

  init(_ name: String, _ hexColorCode: String, ID: Int) {
    fullName = Property(name)
    self.hexColorCode = Property(hexColorCode)
    self.ID = Number(stringValue: "\(ID)")
  }
}

// Binding From Code: `viewDidUpdateViewModel` is called after each view model is set.

final class PersonTableViewCell: BindTableViewCell {
  override class var bindings: [ViewBinding] {
    [BINDViewModel("name", ~>, "textLabel.text")]
  }

  private(set) var updates = 0

  override func viewDidUpdateViewModel(_ viewModel: BindViewModel?) {
    updates += 1
  }
}
