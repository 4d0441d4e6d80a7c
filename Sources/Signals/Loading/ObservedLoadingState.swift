/// A state of something that is loaded, as one sees it who has seen the states before.
package protocol ObservedLoadingStateProtocol<LoadingValue, LoadingError>: LoadingStateProtocol {
  /// The state, with whether it was loaded before.
  var asObservedLoadingState: ObservedLoadingState<LoadingValue, LoadingError> { get }
}

extension ObservedLoadingStateProtocol {
  /// Whether it is being loaded again.
  package var isReloading: Bool {
    if case .reloading = asObservedLoadingState { true } else { false }
  }
}

/// What loading something has come to, and whether it is loaded again.
package enum ObservedLoadingState<LoadingValue, LoadingError: Error>: ObservedLoadingStateProtocol {
  case loading
  case reloading
  case loaded(LoadingValue)
  case failed(LoadingError)

  package var asLoadingState: LoadingState<LoadingValue, LoadingError> {
    switch self {
    case .loading, .reloading: .loading
    case .loaded(let value): .loaded(value)
    case .failed(let error): .failed(error)
    }
  }

  package var asObservedLoadingState: ObservedLoadingState { self }
}

extension ObservedLoadingState: Equatable where LoadingValue: Equatable, LoadingError: Equatable {}
