import Signals

// View: the view controllers know no other layer.

final class ProfileViewController: UIViewController {
  let nameLabel = UILabel()
  let imageView = UIImageView()
  let friendsView = UICollectionView()
  private(set) lazy var logoutButton: UIButton = makeLogoutButton()
  let editProfileButton = UIButton()
  let friendsButton = UIButton()
}

final class EditProfileViewController: UIViewController {
  let nameLabel = UILabel()
}

final class FriendsViewController: UIViewController {
  let friendsView = UICollectionView()
}

// Binder: instantiate the view, configure it and return it.

extension ProfileViewController {
  func makeLogoutButton() -> UIButton {
    let button = UIButton()
    button.setTitle("Log out")
    return button
  }
}

extension ProfileViewController {
  static func makeViewController() -> ProfileViewController {
    let viewController = ProfileViewController()
    // ...configure viewController...
    return viewController
  }
}

extension ProfileViewController {
  static func makeViewController(_ userService: UserService) -> ProfileViewController {
    let viewController = ProfileViewController()

    viewController.nameLabel.text = userService.user.name
    viewController.imageView.imageUrl = userService.user.imageUrl

    userService.friends
      .consumeLoadingState(by: viewController.friendsView)  // Show the loading indicator
      .bind(to: viewController.friendsView) { cell, friend in
        cell.nameLabel.text = friend.name
      }

    viewController.logoutButton.reactive.tap
      .observeNext(with: userService.logOut)
      .dispose(in: viewController.bag)

    // Navigation (Routing): the binder creates the next view controller.
    viewController.editProfileButton.reactive.tap
      .bind(to: viewController) { viewController in
        let editProfileVC = EditProfileViewController.makeViewController(userService)
        viewController.present(editProfileVC, animated: true)
      }

    return viewController
  }
}

extension EditProfileViewController {
  static func makeViewController(_ userService: UserService) -> EditProfileViewController {
    let viewController = EditProfileViewController()
    viewController.nameLabel.text = userService.user.name
    return viewController
  }
}

// Dependency Pyramid Problem: the binder takes the session instead of one service.

extension ProfileViewController {
  static func makeViewController(_ session: Session) -> ProfileViewController {
    let userService = session.currentUserService
    let viewController = makeViewController(userService)

    viewController.friendsButton.reactive.tap
      .bind(to: viewController) { viewController in
        let friendsViewController = FriendsViewController.makeViewController(
          user: userService.user, session: session)
        viewController.navigationController?.pushViewController(
          friendsViewController, animated: true)
      }

    return viewController
  }
}

extension FriendsViewController {
  static func makeViewController(user: User, session: Session) -> FriendsViewController {
    let viewController = FriendsViewController()
    session.makeFriendsService(for: user).friends
      .consumeLoadingState(by: viewController.friendsView)
      .bind(to: viewController.friendsView) { cell, friend in
        cell.nameLabel.text = friend.name
      }
    return viewController
  }
}
