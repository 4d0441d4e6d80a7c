import Signals
import SignalsDialects

// Data Controller: it makes view models of what it loads.

struct LoadError: Error {}

final class PeopleController: DataController {
  private let people: Signal<[Person], LoadError>

  init(people: Signal<[Person], LoadError>) { self.people = people }

  func update(with context: String) -> LoadingSignal<[PersonNameViewModel], LoadError> {
    people.map { people in
      people.filter { $0.fullName.value.hasPrefix(context) }.map(PersonNameViewModel.init(model:))
    }
    .toLoadingSignal()
  }
}

// View Controller: it keeps the data controller, and asks for view models when it appears.

final class PeopleViewController: DisposeBagProvider {
  let bag = DisposeBag()
  let tableView = UITableView()
  private let dataController: PeopleController
  private(set) var viewModels: [PersonNameViewModel] = []

  init(dataController: PeopleController) { self.dataController = dataController }

  func viewWillAppear(_ animated: Bool) {
    dataController.update(with: "K") { [weak self] result in
      guard let self, case .success(let viewModels) = result else { return }
      self.viewModels = viewModels
      // Do stuff with view models here
      // like call reloadData on the tableView.
      tableView.reloadData()
    }
    .dispose(in: bag)
  }

  // View: a reused cell shows another view model.
  func tableView(cellForRowAt row: Int, reusing cell: PersonNameCell) -> PersonNameCell {
    let viewModel = viewModels[row]
    cell.viewModel = viewModel
    return cell
  }
}
