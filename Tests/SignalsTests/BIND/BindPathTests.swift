import Signals
import TestSupport
import Testing

@Suite(.leavesNothing)
struct BindPathTests {
  private final class Dashboard: DisposeBagProvider {
    let bag = DisposeBag()
    let rpm = Property(0.0)
  }

  private let dashboard = Dashboard()
  private let car = Car()

  @Test
  func `a path follows a replaced object on it`() {
    let first = car.engine.value
    car.engine.path(\.rpm) ~> dashboard.rpm
    first.rpm.value = 1
    #expect(dashboard.rpm.value == 1)
    let second = Engine()
    second.rpm.value = 2
    car.engine.value = second
    #expect(dashboard.rpm.value == 2)
    first.rpm.value = 3
    #expect(dashboard.rpm.value == 2)
    #expect(!first.rpm.hasObservers)
    second.rpm.value = 4
    #expect(dashboard.rpm.value == 4)
  }

  @Test
  func `a two-way path reads and writes the current object`() {
    dashboard.rpm.value = 5
    dashboard.rpm <> car.engine.path(\.rpm)
    let first = car.engine.value
    #expect(first.rpm.value == 5)
    let second = Engine()
    second.rpm.value = 6
    car.engine.value = second
    #expect(dashboard.rpm.value == 6)
    dashboard.rpm.value = 7
    #expect(second.rpm.value == 7)
    #expect(first.rpm.value == 5)
  }

  @Test
  func `BIND also binds key paths`() {
    final class ViewModel { let name = Property("Kim") }
    let viewModel = ViewModel()
    let labels = (0..<6).map { _ in Label() }
    BIND(viewModel, \.name, ~>, labels[0], \.text)
    BIND(labels[1], \.text, <~, viewModel, \.name)
    BIND(viewModel, \.name, <>, labels[2], \.text)
    BIND(viewModel, \.name, !~>, labels[3], \.text)
    BIND(labels[4], \.text, <~!, viewModel, \.name)
    BIND(viewModel, \.name, <!>, labels[5], \.text)
    #expect(labels.map(\.text.value) == ["Kim", "Kim", "Kim", "", "", ""])
    viewModel.name.value = "Hobbit"
    #expect(labels.allSatisfy { $0.text.value == "Hobbit" })
    labels[5].text.value = "Cartman"
    #expect(labels[2].text.value == "Cartman")
  }
}
