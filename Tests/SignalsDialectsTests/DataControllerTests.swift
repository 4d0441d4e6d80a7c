import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

private final class Person {
  let fullName: Property<String>

  init(_ name: String) {
    fullName = Property(name)
  }
}

private final class PersonViewModel: BindViewModel {
  override class var bindings: [ViewBinding] {
    super.bindings + [BINDModel("fullName", <>, "name")]
  }

  let name = Property("")
}

private final class PersonDataController: DataController {
  let loaded = PassthroughSubject<[Person], Broken>()

  func update(with prefix: String) -> LoadingSignal<[PersonViewModel], Broken> {
    loaded.toSignal().map { people in
      people.filter { $0.fullName.value.hasPrefix(prefix) }.map(PersonViewModel.init(model:))
    }
    .toLoadingSignal()
  }
}

@Suite(.leavesNothing)
struct DataControllerTests {
  @Test
  func `a data controller returns view models for loaded data, or an error`() {
    let (kim, hobbit) = (Person("Kim"), Person("Hobbit"))
    let controller = PersonDataController()
    var names: [[String]] = []
    var failures = 0
    let run = controller.update(with: "K") { result in
      switch result {
      case .success(let viewModels): names.append(viewModels.map(\.name.value))
      case .failure: failures += 1
      }
    }
    #expect(names.isEmpty)
    controller.loaded.send([kim, hobbit])
    controller.loaded.on(.failed(Broken()))
    #expect(names == [["Kim"]])
    #expect(failures == 1)
    run.dispose()
  }
}
