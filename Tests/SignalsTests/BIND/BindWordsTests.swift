import Signals
import TestSupport
import Testing

/// The BIND functions, used as in the tests and the README of the original.
@Suite(.leavesNothing)
struct BindWordsTests {
  let engine = Engine()
  let car = Car()

  @Test
  func `the BIND functions create the expression and bind the objects`() throws {
    let plain = try BIND(engine, "rpm", ~>, car, "speed")
    #expect(plain.expression?.description == "rpm ~> speed")
    let through = try BINDT(
      engine, "rpm", <>, car, "speed", "RPMToSpeedTransformer", in: transformers)
    #expect(through.expression?.description == "rpm <> speed | RPMToSpeedTransformer")
    let swapped = try BINDRT(
      engine, "rpm", !~>, car, "speed", "RPMToSpeedTransformer", in: transformers)
    #expect(swapped.expression?.description == "rpm !~> speed | !RPMToSpeedTransformer")
    for binding in [plain, through, swapped] {
      #expect(binding.left === engine)
      #expect(binding.right === car)
      binding.unbind()
    }
  }

  @Test
  func `BIND accepts missing objects`() throws {
    let binding = try BIND(nil, "rpm", <!>, nil, "speed")
    #expect(binding.expression?.description == "rpm <!> speed")
    #expect(binding.left == nil)
    #expect(binding.right == nil)
  }

  @Test
  func `a shorthand replaces a missing path with the default path`() throws {
    let (nameField, nameLabel) = (TextField(), Label())
    try BINDS(nameField, ~>, nameLabel)
    nameField.text.value = "Kim"
    #expect(nameLabel.text.value == "Kim")

    final class ViewModel { let name = Property("") }
    let viewModel = ViewModel()
    let label = Label()
    try BINDSR(viewModel, "name", ~>, label)
    viewModel.name.value = "Hobbit"
    #expect(label.text.value == "Hobbit")

    let field = TextField()
    try BINDSL(field, ~>, viewModel, "name")
    field.text.value = "Cartman"
    #expect(viewModel.name.value == "Cartman")
    #expect(label.text.value == "Cartman")
  }

  @Test
  func `an action is observed by its path or by the default path`() throws {
    let button = Button()
    var log: [String] = []
    var senders: [ObjectIdentifier] = []
    try BINDO(button, "onTouchUpInside").observe { sender, _ in
      senders.append(ObjectIdentifier(sender))
      log.append("path")
    }
    try BINDOS(button).observe { sender, _ in
      senders.append(ObjectIdentifier(sender))
      log.append("shorthand")
    }
    #expect(log.isEmpty)
    button.onTouchUpInside.send()
    #expect(log == ["path", "shorthand"])
    #expect(senders == [ObjectIdentifier(button), ObjectIdentifier(button)])
  }

  @Test
  func `the examples of the README work`() throws {
    final class ViewModel { let name = Property("") }
    let viewModel = ViewModel()
    let nameLabel = Label()

    viewModel.name.value = "Kim"
    try BIND(viewModel, "name", ~>, nameLabel, "text")
    #expect(nameLabel.text.value == "Kim")
    viewModel.name.value = "Hobbit"
    #expect(nameLabel.text.value == "Hobbit")

    var observed: [String] = []
    try BINDO(viewModel, "name").observe { _, value in observed.append(value as? String ?? "") }
    viewModel.name.value = "Cartman"
    #expect(observed == ["Cartman"])

    let binding = try BIND(engine, "rpm", ~>, car, "speed")
    binding.unbind()
    engine.rpm.value = 1
    #expect(car.speed.value == 0)

    let upper = Label()
    viewModel.name.value = "Kim"
    try BIND(viewModel, "name", ~>, upper, "text").transform { _, value in
      (value as? String)?.uppercased() ?? ""
    }
    #expect(upper.text.value == "KIM")
    viewModel.name.value = "Hobbit"
    #expect(upper.text.value == "HOBBIT")

    let transformed = Label()
    try BINDT(viewModel, "name", ~>, transformed, "text", "uppercase", in: transformers)
    #expect(transformed.text.value == "HOBBIT")
  }

  @Test
  func `observable and plain properties are found by name, inherited or not`() throws {
    class Base {
      let title = Property("a")
      let id = 7
    }
    final class Derived: Base {
      let copy = Property("")
      let number = Property(0)
    }
    let object = Derived()
    try BIND(object, "title", ~>, object, "copy")
    try BIND(object, "id", ~>, object, "number")
    object.title.value = "b"
    #expect(object.copy.value == "b")
    #expect(object.number.value == 7)
    let fault = #expect(throws: BindFault.self) { try BIND(object, "number", ~>, object, "id") }
    #expect(fault?.kind == .notBindable)
  }
}
