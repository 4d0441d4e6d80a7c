import Signals
import TestSupport
import Testing

/// The original example of the Binder Architecture, with views that have no screen.
@Suite(.leavesNothing)
struct BinderArchitectureTests {
  struct User: Equatable {
    let name: String
    let imageUrl: String
  }

  struct ApplicationError: Error {}

  final class UserService {
    let user = User(name: "Ana", imageUrl: "ana.png")
    let friends: LoadingSignal<[User], ApplicationError>
    private(set) var isLoggedIn = true

    init(friends: LoadingSignal<[User], ApplicationError>) {
      self.friends = friends
    }

    func logOut() { isLoggedIn = false }
  }

  class View: DisposeBagProvider, ReactiveExtensionsProvider {
    let bag = DisposeBag()
  }

  final class Label: View {
    var text = ""
  }

  final class ImageView: View {
    var imageUrl = ""
  }

  final class Button: View {
    fileprivate let taps = PassthroughSubject<Void, Never>()
  }

  final class Cell: View {
    let nameLabel = Label()
  }

  final class CollectionView: View, LoadingStateListener {
    fileprivate(set) var cells: [Cell] = []
    private(set) var isSpinning = false

    func setLoadingState<Value, Failure>(_ state: ObservedLoadingState<Value, Failure>) {
      isSpinning = state.isLoading
    }
  }

  final class ProfileViewController: View {
    let nameLabel = Label()
    let imageView = ImageView()
    let friendsView = CollectionView()
    let logoutButton = Button()
    let editProfileButton = Button()
    private(set) var presented: ProfileViewController?

    static func makeViewController(_ userService: UserService) -> ProfileViewController {
      let viewController = ProfileViewController()

      viewController.nameLabel.text = userService.user.name
      viewController.imageView.imageUrl = userService.user.imageUrl

      userService.friends
        .consumeLoadingState(by: viewController.friendsView)
        .bind(to: viewController.friendsView) { cell, friend in
          cell.nameLabel.text = friend.name
        }

      viewController.logoutButton.reactive.tap
        .observeNext(with: userService.logOut)
        .dispose(in: viewController.bag)

      viewController.editProfileButton.reactive.tap
        .bind(to: viewController) { viewController in
          viewController.presented = ProfileViewController.makeViewController(userService)
        }

      return viewController
    }
  }

  let friends = PassthroughSubject<LoadingState<[User], ApplicationError>, Never>()

  @Test
  func `a profile shows its user and friends, and logs out`() {
    let service = UserService(friends: friends.toSignal())
    let controller = ProfileViewController.makeViewController(service)
    friends.send(.loading)
    #expect(controller.friendsView.isSpinning)
    friends.send(.loaded([User(name: "Ben", imageUrl: ""), User(name: "Cy", imageUrl: "")]))
    #expect(!controller.friendsView.isSpinning)
    #expect(controller.friendsView.cells.map(\.nameLabel.text) == ["Ben", "Cy"])
    #expect(controller.nameLabel.text == "Ana" && controller.imageView.imageUrl == "ana.png")
    controller.logoutButton.taps.send()
    #expect(!service.isLoggedIn)
    controller.editProfileButton.taps.send()
    #expect(controller.presented?.nameLabel.text == "Ana")
  }

  @Test
  func `the service is deallocated with the view that uses it`() {
    weak var service: UserService?
    weak var controller: ProfileViewController?
    do {
      let held = UserService(friends: friends.toSignal())
      service = held
      let view = ProfileViewController.makeViewController(held)
      controller = view
      #expect(service != nil)
    }
    #expect(controller == nil)
    #expect(service == nil)
    #expect(!friends.hasObservers)
  }
}

extension ReactiveExtensions where Base == BinderArchitectureTests.Button {
  fileprivate var tap: SafeSignal<Void> { base.taps.toSignal() }
}

extension SignalProtocol where Error == Never {
  /// Creates a cell for each element, as Bond does for a table view.
  fileprivate func bind<Item>(
    to view: BinderArchitectureTests.CollectionView,
    configure: @escaping (BinderArchitectureTests.Cell, Item) -> Void
  ) where Element == [Item] {
    bind(to: view) { view, items in
      view.cells = items.map { item in
        let cell = BinderArchitectureTests.Cell()
        configure(cell, item)
        return cell
      }
    }
  }
}
