import Signals
import TestSupport
import Testing

private final class Person {
  let fullName = Property("")
  let hexColorCode = Property("")
  let id: Int

  init(_ name: String, id: Int) {
    fullName.value = name
    self.id = id
  }
}

private class PersonViewModel: BindViewModel {
  override class var bindings: [ViewBinding] {
    super.bindings + [
      BINDModel("fullName", <>, "name"),
      BINDModel("hexColorCode", <>, "hexColorCode"),
      BINDModel("id", ~>, "id", #"format("%")"#, in: transformers),
    ]
  }

  let name = Property("")
  let hexColorCode = Property("")
  let id = Property("")
  let child = Property<BindViewModel?>(nil)
  private(set) lazy var reverseNameCommand = BlockCommand {}
  let reverse: any BindCommand

  override init(model: AnyObject?) {
    let name = name
    reverse = BlockCommand { [weak name] in
      if let name { name.value = String(name.value.reversed()) }
    }
    super.init(model: model)
  }
}

private class NameCell: BindView {
  override class var bindings: [ViewBinding] {
    super.bindings + [
      BINDViewModel("name", ~>, "textLabel.text"),
      BINDViewModel("id", ~>, "detailTextLabel.text"),
      BINDViewModelCommand("reverse", "onTouchUpInside"),
    ]
  }

  let textLabel = Label()
  let detailTextLabel = Label()
  let onTouchUpInside = PassthroughSubject<Void, Never>()
  let childCell = BindView()
  var updates = 0

  override func viewDidUpdateViewModel(_ viewModel: BindViewModel?) {
    updates += 1
  }
}

private final class LoudCell: NameCell {
  override class var bindings: [ViewBinding] {
    super.bindings + [
      BINDViewModel("name", ~>, "loudLabel.text").transform { _, value in
        (value as? String)?.uppercased() ?? ""
      }
    ]
  }

  let loudLabel = Label()
}

private final class ParentCell: NameCell {
  override class var bindings: [ViewBinding] {
    [BINDViewModel("child", ~>, "childCell.viewModel")]
  }
}

@Suite(.leavesNothing)
struct BindViewTests {
  private let kim = Person("Kim", id: 1)
  private let hobbit = Person("Hobbit", id: 2)

  @Test
  func `a view model follows its model from its creation`() {
    let viewModel = PersonViewModel(model: kim)
    #expect(viewModel.model === kim)
    #expect(viewModel.bindings.count == 3)
    #expect(viewModel.name.value == "Kim")
    #expect(viewModel.id.value == "1")
    #expect(viewModel.identifier == "PersonViewModel")
    kim.hexColorCode.value = "#fff"
    viewModel.name.value = "Cartman"
    #expect(viewModel.hexColorCode.value == "#fff")
    #expect(kim.fullName.value == "Cartman")
  }

  @Test
  func `a view model has children`() {
    let viewModel = BindViewModel(model: nil)
    let (a, b) = (BindViewModel(model: nil), BindViewModel(model: nil))
    viewModel.addChild(a)
    viewModel.addChild(b)
    #expect(viewModel.children.first === a)
    viewModel.removeChild(a)
    #expect(viewModel.children.count == 1)
    #expect(viewModel.children.first === b)
    viewModel.removeAllChildren()
    #expect(viewModel.children.isEmpty)
  }

  @Test
  func `a reused view shows only the new view model`() {
    let cell = NameCell()
    let viewModel = PersonViewModel(model: kim)
    cell.viewModel = viewModel
    #expect(cell.textLabel.text.value == "Kim")
    #expect(cell.detailTextLabel.text.value == "1")
    cell.viewModel = PersonViewModel(model: hobbit)
    #expect(cell.textLabel.text.value == "Hobbit")
    #expect(cell.updates == 2)
    viewModel.name.value = "Cartman"
    #expect(cell.textLabel.text.value == "Hobbit")
    hobbit.fullName.value = "Bilbo"
    #expect(cell.textLabel.text.value == "Bilbo")
    cell.viewModel = nil
    hobbit.fullName.value = "Frodo"
    #expect(cell.textLabel.text.value == "Bilbo")
    #expect(cell.updates == 3)
  }

  @Test
  func `an action of the view executes a command of the view model`() {
    let cell = NameCell()
    cell.viewModel = PersonViewModel(model: kim)
    #expect(cell.textLabel.text.value == "Kim")
    cell.onTouchUpInside.send()
    #expect(cell.textLabel.text.value == "miK")
    #expect(kim.fullName.value == "miK")
  }

  @Test
  func `the bindings of a superclass come first`() {
    let cell = LoudCell()
    #expect(
      cell.bindings.map { $0.expression?.description } == [
        "name ~> textLabel.text", "id ~> detailTextLabel.text", "reverse <~! onTouchUpInside",
        "name ~> loudLabel.text",
      ])
    cell.viewModel = PersonViewModel(model: kim)
    #expect(cell.textLabel.text.value == "Kim")
    #expect(cell.loudLabel.text.value == "KIM")
    cell.viewModel = PersonViewModel(model: hobbit)
    #expect(cell.loudLabel.text.value == "HOBBIT")
  }

  @Test
  func `a view accepts bindings, and their paths may start at the view`() throws {
    let cell = NameCell()
    cell.bindings = try [
      "viewModel.name ~> textLabel.text", "detailTextLabel.text <~ viewModel.id",
    ]
    .map { try ObjectBinding($0) }
    cell.viewModel = PersonViewModel(model: kim)
    #expect(cell.bindings.allSatisfy { $0.left === cell && $0.right === cell })
    #expect(cell.textLabel.text.value == "Kim")
    #expect(cell.detailTextLabel.text.value == "1")
    cell.viewModel = PersonViewModel(model: hobbit)
    #expect(cell.textLabel.text.value == "Hobbit")
  }

  @Test
  func `bindings set on a view with a view model take effect at once`() throws {
    let cell = NameCell()
    let viewModel = PersonViewModel(model: kim)
    cell.viewModel = viewModel
    cell.bindings = [try ObjectBinding("name ~> textLabel.text")]
    #expect(cell.bindings[0].left === viewModel)
    #expect(cell.bindings[0].right === cell)
    #expect(!kim.fullName.value.isEmpty)
    viewModel.name.value = "Cartman"
    viewModel.id.value = "9"
    #expect(cell.textLabel.text.value == "Cartman")
    #expect(cell.detailTextLabel.text.value == "1")
  }

  @Test
  func `a child view shows a child view model`() {
    let cell = ParentCell()
    let viewModel = PersonViewModel(model: kim)
    viewModel.child.value = PersonViewModel(model: hobbit)
    cell.viewModel = viewModel
    #expect(cell.bindings[0].left === viewModel)
    #expect(cell.bindings[0].right === cell)
    #expect(cell.childCell.viewModel === viewModel.child.value)
    viewModel.child.value = nil
    #expect(cell.childCell.viewModel == nil)
  }

  @Test
  func `a deallocated view leaves no observer in its view model`() {
    let viewModel = PersonViewModel(model: kim)
    weak var cell: NameCell?
    do {
      let held = NameCell()
      cell = held
      held.viewModel = PersonViewModel(model: hobbit)
      held.viewModel = viewModel
    }
    #expect(cell == nil)
    #expect(!viewModel.id.hasObservers)
    viewModel.id.value = "9"
  }

  @Test
  func `a declaration with a missing key traps`() async {
    await #expect(processExitsWith: .failure) {
      final class WrongCell: BindView {
        override class var bindings: [ViewBinding] { [BINDViewModel("nmae", ~>, "viewModel")] }
      }
      WrongCell().viewModel = BindViewModel(model: nil)
    }
  }
}
