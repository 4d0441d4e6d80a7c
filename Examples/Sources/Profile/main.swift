import Signals

// The example of the Binder Architecture: one function connects a service and a view.

extension ProfileViewController {
  static func makeViewController(_ userService: UserService) -> ProfileViewController {
    let viewController = ProfileViewController()

    // Assign what is known.
    viewController.nameLabel.text = userService.user.name

    // Bind what changes.
    userService.friends
      .consumeLoadingState(by: viewController.friendsView)
      .bind(to: viewController.friendsView) { cell, friend in
        cell.nameLabel.text = friend.name
      }

    // Observe what the user asks.
    viewController.logoutButton.reactive.tap
      .observeNext(with: userService.logOut)
      .dispose(in: viewController.bag)

    return viewController
  }
}

let friends = PassthroughSubject<LoadingState<[User], ApplicationError>, Never>()
let service = UserService(friends: friends.toSignal())
let profile = ProfileViewController.makeViewController(service)

print("profile of \(profile.nameLabel.text)")
friends.send(.loading)
print("friends: \(profile.friendsView.isSpinning ? "loading" : "idle")")
friends.send(.loaded([User(name: "Ben"), User(name: "Cy")]))
print("friends: \(profile.friendsView.cells.map(\.nameLabel.text).joined(separator: ", "))")
profile.logoutButton.taps.send()
print("logged in: \(service.isLoggedIn)")
