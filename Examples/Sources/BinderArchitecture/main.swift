import Signals

// "The Binder Architecture": services, views, and the functions that connect them.

func names(_ view: UICollectionView) -> String {
  view.cells.map(\.nameLabel.text).joined(separator: ", ")
}

let ana = User(name: "Ana", imageUrl: URL(string: "ana.png"))
let ben = User(name: "Ben", imageUrl: URL(string: "ben.png"))
let session = Session(client: APIClient(), user: ana)
let profile = ProfileViewController.makeViewController(session)
let navigation = UINavigationController(rootViewController: profile)

print("\(profile.nameLabel.text), \(profile.imageView.imageUrl?.string ?? "no image")")
session.client.responses.send(.loading)
print("loading: \(profile.friendsView.isLoading)")
session.client.responses.send(.loaded([ben]))
print("loading: \(profile.friendsView.isLoading), friends: \(names(profile.friendsView))")

session.currentUserService.addFriend(ben).value()
  .observeNext { print("\(ben.name) is a friend") }
  .dispose(in: profile.bag)

profile.editProfileButton.sendTap()
print("presented: \(profile.presented is EditProfileViewController)")
profile.friendsButton.sendTap()
session.client.responses.send(.loaded([ben, ana]))
if let friends = navigation.viewControllers.last as? FriendsViewController {
  print("pushed: \(names(friends.friendsView))")
}

print("\(profile.logoutButton.title): \(session.currentUserService.isLoggedIn)")
profile.logoutButton.sendTap()
print("logged in: \(session.currentUserService.isLoggedIn)")
print("empty: \(ProfileViewController.makeViewController().nameLabel.text.isEmpty)")
