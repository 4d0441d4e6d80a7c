import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct ObjectBindingTests {
  let car = Car()
  let engine = Engine()
  let ticket = ParkingTicket()
  let binding = ObjectBinding()

  private func bind(_ expression: String, _ left: AnyObject?, _ right: AnyObject?) throws {
    binding.unbind()
    try binding.define(expression, transformers: transformers)
    try binding.bind(left: left, right: right)
  }

  // MARK: The value at binding time.

  @Test(arguments: [
    ("make ~> carMake", "Toyota", "Toyota"), ("make <~ carMake", "Seat", "Seat"),
    ("make <> carMake", "Toyota", "Toyota"), ("make !~> carMake", "Toyota", "Seat"),
    ("make <~! carMake", "Toyota", "Seat"), ("make <!> carMake", "Toyota", "Seat"),
  ])
  func `the operator decides which end is assigned at the start`(
    text: String, make: String, carMake: String
  )
    throws
  {
    car.make.value = "Toyota"
    ticket.carMake.value = "Seat"
    try bind(text, car, ticket)
    #expect(car.make.value == make)
    #expect(ticket.carMake.value == carMake)
    binding.unbind()
  }

  @Test
  func `a missing value is assigned as nil`() throws {
    ticket.carMake.value = "Seat"
    try bind("make ~> carMake", car, ticket)
    #expect(ticket.carMake.value == nil)
    car.make.value = "Toyota"
    #expect(ticket.carMake.value == "Toyota")
    car.make.value = nil
    #expect(ticket.carMake.value == nil)
    binding.unbind()
  }

  // MARK: Later values.

  @Test(arguments: [
    ("rpm ~> speed", 200.0, 20000.0), ("rpm !~> speed", 200, 20000),
    ("rpm <> speed", 200, 30000), ("rpm <!> speed", 200, 30000),
  ])
  func `later values take the direction of the operator, through the transformer`(
    text: String, speed: Double, rpm: Double
  ) throws {
    car.speed.value = 100
    engine.rpm.value = 10000
    try bind("\(text) | RPMToSpeedTransformer", engine, car)
    engine.rpm.value = 20000
    #expect(car.speed.value == speed)
    car.speed.value = 300
    #expect(engine.rpm.value == rpm)
    binding.unbind()
  }

  @Test(arguments: [
    "speed <~ rpm | !RPMToSpeedTransformer", "speed <~! rpm | !RPMToSpeedTransformer",
  ])
  func `a value that goes left is transformed in reverse, or forward if swapped`(
    text: String
  ) throws {
    try bind(text, car, engine)
    engine.rpm.value = 20000
    #expect(car.speed.value == 200)
    car.speed.value = 300
    #expect(engine.rpm.value == 20000)
    binding.unbind()
  }

  @Test
  func `one object can be at both ends`() throws {
    car.speed.value = 100
    try bind("speed !~> engine.rpm | !RPMToSpeedTransformer", car, car)
    #expect(car.engine.value.rpm.value == 0)
    car.speed.value = 200
    #expect(car.engine.value.rpm.value == 20000)
    binding.unbind()
  }

  @Test
  func `a path follows a replaced object on it`() throws {
    var heard: [Double] = []
    let id = ObjectIdentifier(car)
    try BINDO(car, "engine.rpm").observe { sender, value in
      #expect(ObjectIdentifier(sender) == id)
      heard.append(value as? Double ?? -1)
    }
    let first = car.engine.value
    let second = Engine()
    second.rpm.value = 200
    car.engine.value = second
    second.rpm.value = 300
    first.rpm.value = 400
    #expect(heard == [200, 300])
    #expect(!first.rpm.hasObservers)
  }

  @Test
  func `a value is written to the object that is now on the path`() throws {
    try bind("rpm ~> engine.rpm", engine, car)
    let first = car.engine.value
    car.engine.value = Engine()
    engine.rpm.value = 5
    #expect(car.engine.value.rpm.value == 5)
    #expect(first.rpm.value == 0)
    binding.unbind()
  }

  @Test
  func `a value for an incomplete path is dropped without a failure`() throws {
    final class Garage { let car = Property<Car?>(nil) }
    let garage = Garage()
    try bind("speed <> car.speed", car, garage)
    var problems = 0
    binding.failed { _ in problems += 1 }
    car.speed.value = 5
    car.speed.value = 6
    #expect(problems == 0)
    let parked = Car()
    parked.speed.value = 5
    garage.car.value = parked
    #expect(car.speed.value == 5)
    car.speed.value = 7
    #expect(parked.speed.value == 7)
    garage.car.value = nil
    parked.speed.value = 8
    #expect(car.speed.value == 7)
    #expect(!parked.speed.hasObservers)
    binding.unbind()
  }

  // MARK: Binding, unbinding, binding again.

  @Test
  func `the objects may be set before the expression`() throws {
    engine.rpm.value = 10000
    try binding.bind(left: engine, right: car)
    try binding.define("rpm ~> speed | RPMToSpeedTransformer", transformers: transformers)
    #expect(car.speed.value == 100)
    binding.unbind()
  }

  @Test
  func `new objects replace the old ones; transformer and closures stay`() throws {
    engine.rpm.value = 10000
    try bind("rpm ~> speed | RPMToSpeedTransformer", engine, car)
    var senders: [ObjectIdentifier] = []
    binding.transform { _, value in (value as? Double ?? 0) + 1 }
    binding.observe { sender, _ in senders.append(ObjectIdentifier(sender)) }
    #expect(car.speed.value == 101)

    let (engine2, car2) = (Engine(), Car())
    engine2.rpm.value = 20000
    try binding.bind(left: engine2, right: car2)
    #expect(car2.speed.value == 201)
    #expect(binding.left === engine2)
    #expect(binding.right === car2)
    engine.rpm.value = 30000
    #expect(car.speed.value == 101)
    #expect(!engine.rpm.hasObservers)
    engine2.rpm.value = 30000
    #expect(car2.speed.value == 301)
    #expect(senders == [ObjectIdentifier(engine2)])
    binding.unbind()
  }

  @Test
  func `unbinding releases both objects, and may be repeated`() throws {
    binding.unbind()
    try binding.bind(left: engine, right: car)
    binding.unbind()
    #expect(binding.left == nil)
    #expect(binding.right == nil)
    try binding.define("rpm ~> speed")
    binding.unbind()
    try binding.bind(left: engine, right: car)
    #expect(!binding.isDisposed)
    binding.unbind()
    binding.unbind()
    #expect(binding.isDisposed)
    #expect(binding.left == nil)
    engine.rpm.value = 7
    #expect(car.speed.value == 0)
    #expect(!engine.rpm.hasObservers)
  }

  @Test(arguments: ["rpm ~> speed", "rpm <~ speed", "rpm <> speed"])
  func `a binding ends with either object and retains neither`(text: String) throws {
    weak var lost: Car?
    do {
      let held = Car()
      lost = held
      try bind(text, engine, held)
    }
    #expect(lost == nil)
    engine.rpm.value = 10000
    #expect(binding.isDisposed)
    #expect(!engine.rpm.hasObservers)

    weak var lostLeft: Engine?
    do {
      let held = Engine()
      lostLeft = held
      try bind(text, held, car)
    }
    #expect(lostLeft == nil)
    car.speed.value = 10000
    #expect(!car.speed.hasObservers)
  }

  @Test
  func `a binding that is not retained lives until an object is deallocated`() throws {
    do {
      let held = Engine()
      try BIND(held, "rpm", ~>, car, "speed")
      held.rpm.value = 5
      #expect(car.speed.value == 5)
    }
    #expect(car.speed.value == 5)
  }

  @Test
  func `a binding ends with its owner`() throws {
    do {
      let owner = DisposeBag()
      try BIND(engine, "rpm", ~>, car, "speed").dispose(in: owner)
      engine.rpm.value = 5
    }
    engine.rpm.value = 6
    #expect(car.speed.value == 5)
    #expect(!engine.rpm.hasObservers)
  }

  // MARK: Closures.

  @Test
  func `a closure transforms each value after the transformer`() throws {
    try bind("rpm ~> speed | RPMToSpeedTransformer", engine, car)
    binding.transform { _, value in (value as? Double ?? 0) / 2 }
    engine.rpm.value = 10000
    #expect(car.speed.value == 50)
    try bind("speed ~> rpm | !RPMToSpeedTransformer", car, engine)
    #expect(engine.rpm.value == 2500)
    binding.unbind()
  }

  @Test(arguments: [("speed ~> rpm", 10000.0), ("speed !~> rpm", 100)])
  func `adding a closure repeats the assignment at the start, and only that`(
    text: String, rpm: Double
  ) throws {
    try bind(text, car, engine)
    car.speed.value = 100
    #expect(engine.rpm.value == 100)
    binding.transform { _, value in (value as? Double ?? 0) * 100 }
    #expect(engine.rpm.value == rpm)
    binding.unbind()
  }

  @Test
  func `the closures receive the object that sent the value`() throws {
    var transformed: [ObjectIdentifier] = []
    var observed: [ObjectIdentifier] = []
    var values: [Double] = []
    try bind("speed <> rpm | !RPMToSpeedTransformer", car, engine)
    binding.transform { sender, value in
      transformed.append(ObjectIdentifier(sender))
      return value
    }
    binding.observe { sender, value in
      observed.append(ObjectIdentifier(sender))
      values.append(value as? Double ?? -1)
    }
    transformed = []
    engine.rpm.value = 10000
    car.speed.value = 200
    #expect(transformed == [ObjectIdentifier(engine), ObjectIdentifier(car)])
    #expect(observed == transformed)
    #expect(values == [10000, 200])
    #expect(engine.rpm.value == 20000)
    binding.unbind()
  }

  @Test(arguments: [("rpm ~> speed", [20.0]), ("rpm <~ speed", [30]), ("rpm <> speed", [20, 30])])
  func `an observer receives later values untransformed, after the assignment`(
    text: String, values: [Double]
  ) throws {
    engine.rpm.value = 10
    try bind(text, engine, car)
    var told: [Double] = []
    binding.observe { [engine, car] sender, value in
      told.append(value as? Double ?? -1)
      #expect(engine.rpm.value == car.speed.value)
    }
    #expect(told.isEmpty)
    engine.rpm.value = 20
    car.speed.value = 30
    #expect(told == values)
    binding.unbind()
  }

  // MARK: Faults.

  @Test(arguments: [
    ("rpm ~> speed | FooBar", "unknown transformer 'FooBar' at column 16"),
    ("rpm ~> sped", "no key 'sped' in Car at column 8"),
    ("rpm ~> engine.rpn", "no key 'rpn' in Engine at column 15"),
    ("rpm.x ~> speed", "no key 'x' in Double at column 5"),
    ("rpm ~> speed | round", "'round' takes 1 argument, not 0 at column 16"),
    ("rpm ~> speed | text(1)", "'text' takes no argument, not 1 at column 16"),
    ("rpm ~> speed | round(1.5)", "expected integer, found 1.5 at column 22"),
    ("rpm ~> speed | format(1)", "expected string, found 1 at column 23"),
    (
      "rpm <> speed | uppercase",
      "'uppercase' is not reversible and cannot be used with <> at column 16"
    ),
    ("rpm ~> speed | !uppercase", "'!uppercase' cannot go from left to right at column 17"),
  ])
  func `a fault has its column, and nothing is bound`(text: String, message: String) {
    let fault = #expect(throws: BindFault.self) { try bind(text, engine, car) }
    #expect(fault?.description == message)
    #expect(binding.isDisposed)
    #expect(!engine.rpm.hasObservers)
  }

  @Test
  func `a value that cannot be transformed or assigned is dropped; the binding stays`() throws {
    let label = Label()
    try bind("text ~> rpm | !text", label, engine)
    var problems: [String] = []
    binding.failed { problems.append("\($0)") }
    label.text.value = "twelve"
    #expect(engine.rpm.value == 0)
    label.text.value = "12"
    #expect(engine.rpm.value == 12)
    try bind("text ~> rpm", label, engine)
    label.text.value = "13"
    #expect(engine.rpm.value == 12)
    let mismatch = "a value of type String is no Double"
    #expect(problems == ["Broken()", mismatch, mismatch])
    binding.unbind()
  }

  // MARK: Transformers.

  @Test
  func `transformers are found by name, composed from left to right, with their arguments`() throws
  {
    let label = Label()
    engine.rpm.value = 1234.5
    try bind(#"rpm ~> text | scale(0.01) | round(1) | format("% km/h") | uppercase"#, engine, label)
    #expect(label.text.value == "12.3 KM/H")
    binding.unbind()
  }

  @Test
  func `composed transformers go back from right to left`() throws {
    let label = Label()
    try bind("rpm <> text | scale(0.5) | text", engine, label)
    engine.rpm.value = 10
    #expect(label.text.value == "5.0")
    label.text.value = "7"
    #expect(engine.rpm.value == 14)
    #expect(label.text.value == "7")
    binding.unbind()
  }

  @Test
  func `a registered name stands for a type or a closure`() throws {
    var registry = transformers
    registry.register(RPMToSpeedTransformer.self, as: "RPMToSpeedTransformerName")
    let all = registry.all.map { "\($0.name) \($0.parameters.shown) \($0.isReversible)" }
    #expect(all.first == #"NegateBoolean [] true"#)
    #expect(all.contains(#"format ["string"] false"#))
    #expect(all.contains("RPMToSpeedTransformer [] true"))
    try binding.define("rpm ~> speed | RPMToSpeedTransformerName", transformers: registry)
    engine.rpm.value = 500
    try binding.bind(left: engine, right: car)
    #expect(car.speed.value == 5)
    binding.unbind()
  }

  @Test
  func `a Boolean is negated`() throws {
    final class Toggle { let isOn = Property(false) }
    let (a, b) = (Toggle(), Toggle())
    try bind("isOn <> isOn | NegateBoolean", a, b)
    #expect(b.isOn.value)
    b.isOn.value = false
    #expect(a.isOn.value)
    binding.unbind()
  }

  @Test
  func `a missing value is replaced by the default`() throws {
    final class Reading { let value = Property<Double?>(nil) }
    let reading = Reading()
    try bind("value ~> speed | default(7)", reading, car)
    #expect(car.speed.value == 7)
    reading.value.value = 8
    #expect(car.speed.value == 8)
    binding.unbind()
  }
}
