import Signals
import SignalsDialects

// BIND's README, with its macros as functions: paths and transformers are text.

final class ViewModel {
  let name = Property("")
  let imageURL = Property(URL(string: ""))
}

final class Engine {
  let rpm = Property(0)
}

final class Car {
  let speed = Property(0)
}

// UI Bindings
let kim = Person("Kim", "#fff", ID: 1)
let cell = PersonNameCell()
cell.viewModel = PersonNameViewModel(model: kim)
print(cell.textLabel.text.value, cell.detailTextLabel.text.value)
cell.onTouchUpInside.send()
print(kim.fullName.value)

// Binding
let viewModel = ViewModel()
let nameLabel = UILabel()
viewModel.name.value = "Kim"
try BIND(viewModel, "name", ~>, nameLabel, "text")
print(nameLabel.text.value)
viewModel.name.value = "Hobbit"
print(nameLabel.text.value)
try BINDO(viewModel, "name").observe { _, value in print("observed \(value)") }

// Unbinding
let (engine, car) = (Engine(), Car())
let binding = try BIND(engine, "rpm", ~>, car, "speed")
engine.rpm.value = 1
binding.unbind()
engine.rpm.value = 2
print("speed \(car.speed.value)")

// Transform operation
let loudLabel = UILabel()
try BIND(viewModel, "name", ~>, loudLabel, "text").transform { _, value in
  "\(value)".uppercased()
}
viewModel.name.value = "Kim"
print(loudLabel.text.value)

// Observe operation
try BINDSR(viewModel, "name", ~>, nameLabel).observe { _, value in print("passed \(value)") }
viewModel.name.value = "Hobbit"

// Transformers
let upper = UILabel()
try BINDT(viewModel, "name", ~>, upper, "text", "UppercaseStringTransformer", in: transformers)
let lower = UILabel()
try BINDRT(viewModel, "name", ~>, lower, "text", "UppercaseStringTransformer", in: transformers)
print(upper.text.value, lower.text.value)

// Asynchronous Transformers
let imageView = UIImageView()
try BINDT(
  viewModel, "imageURL", ~>, imageView, "image", "URLToImageTransformer", in: transformers)
viewModel.imageURL.value = URL(string: "a.png")
print("image \(imageView.image.value?.name ?? "none")")
web.answer()
print("image \(imageView.image.value?.name ?? "none")")

// Binding Direction and Initial Value Assignment
for sign in ["~>", "<~", "<>", "!~>", "<~!", "<!>"] {
  let (left, right) = (UITextField(), UITextField())
  left.text.value = "left"
  right.text.value = "right"
  let binding = try ObjectBinding("text \(sign) text")
  try binding.bind(left: left, right: right)
  print("\(sign): \(left.text.value) \(right.text.value)")
}

// Shorthands
let (nameField, button) = (UITextField(), UIButton())
let fieldLabel = UILabel()
try BINDS(nameField, ~>, fieldLabel)
nameField.text.value = "Kim"
print(fieldLabel.text.value)
try BINDSL(nameField, ~>, viewModel, "name")
nameField.text.value = "Cartman"
print(viewModel.name.value)
try BINDOS(button).observe { _, _ in print("pressed") }
button.onTouchUpInside.send()

// MVVMC Architecture
let people = PassthroughSubject<[Person], LoadError>()
let controller = PeopleViewController(
  dataController: PeopleController(people: people.toSignal()))
controller.viewWillAppear(true)
people.send([Person("Kyle", "#000", ID: 7), Person("Stan", "#000", ID: 8)])
print(controller.viewModels.map(\.identifier), controller.tableView.reloads)
print(controller.tableView(cellForRowAt: 0, reusing: cell).textLabel.text.value)

// Binding From Code
let personCell = PersonTableViewCell()
personCell.viewModel = controller.viewModels[0]
print(personCell.textLabel.text.value, personCell.updates)

// Binding From XIB: a binding is text, which an interface file can contain.
let plainCell = BindTableViewCell()
plainCell.bindings = [try ObjectBinding("name ~> textLabel.text")]
plainCell.viewModel = controller.viewModels[0]
print(plainCell.textLabel.text.value)
