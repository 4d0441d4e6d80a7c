/// A loading state that depends on the states before it.
public protocol ObservedLoadingStateProtocol<LoadingValue, LoadingError>: LoadingStateProtocol {
  /// The state, with the distinction between loading and reloading.
  var asObservedLoadingState: ObservedLoadingState<LoadingValue, LoadingError> { get }
}

extension ObservedLoadingStateProtocol {
  /// Whether the value is being reloaded.
  public var isReloading: Bool {
    if case .reloading = asObservedLoadingState { true } else { false }
  }
}

/// The state of loading a value, with the distinction between loading and reloading.
public enum ObservedLoadingState<LoadingValue, LoadingError: Error>: ObservedLoadingStateProtocol {
  case loading
  case reloading
  case loaded(LoadingValue)
  case failed(LoadingError)

  public var asLoadingState: LoadingState<LoadingValue, LoadingError> {
    switch self {
    case .loading, .reloading: .loading
    case .loaded(let value): .loaded(value)
    case .failed(let error): .failed(error)
    }
  }

  public var asObservedLoadingState: ObservedLoadingState { self }
}

extension ObservedLoadingState: Equatable where LoadingValue: Equatable, LoadingError: Equatable {}
