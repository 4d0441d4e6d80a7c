import Signals

struct User {
  let name: String
}

struct ApplicationError: Error {}

/// The business logic: it knows no view.
final class UserService {
  let user = User(name: "Ana")
  let friends: LoadingSignal<[User], ApplicationError>
  private(set) var isLoggedIn = true

  init(friends: LoadingSignal<[User], ApplicationError>) {
    self.friends = friends
  }

  func logOut() { isLoggedIn = false }
}
