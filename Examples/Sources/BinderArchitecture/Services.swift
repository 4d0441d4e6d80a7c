import Signals

// Business Logic: an entity and a service.

struct User {
  let name: String
  let imageUrl: URL
}

struct ApplicationError: Error {}

final class UserService {
  let user: User
  let friends: LoadingSignal<[User], ApplicationError>
  private(set) var isLoggedIn = true

  init(user: User, friends: LoadingSignal<[User], ApplicationError>) {
    self.user = user
    self.friends = friends
  }

  func logOut() { isLoggedIn = false }

  func addFriend(_ user: User) -> LoadingSignal<Void, ApplicationError> { .loaded(()) }
}

final class FriendsService {
  let friends: LoadingSignal<[User], ApplicationError>

  init(friends: LoadingSignal<[User], ApplicationError>) { self.friends = friends }
}

// Dependency Pyramid Problem: the session owns services or makes them.

final class APIClient {
  let responses = PassthroughSubject<LoadingState<[User], ApplicationError>, Never>()

  func friends(of user: User) -> LoadingSignal<[User], ApplicationError> { responses.toSignal() }
}

final class Session {
  // Session usually owns the client as it know about authentication
  let client: APIClient

  // Session can own services that are alive as long as the app is alive
  let currentUserService: UserService

  init(client: APIClient, user: User) {
    self.client = client
    currentUserService = UserService(user: user, friends: client.friends(of: user))
  }

  // Session can create other services when needed
  func makeFriendsService(for user: User) -> FriendsService {
    FriendsService(friends: client.friends(of: user))
  }
}
