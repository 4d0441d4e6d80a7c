/// A state of something that is loaded.
public protocol LoadingStateProtocol<LoadingValue, LoadingError> {
  associatedtype LoadingValue
  associatedtype LoadingError: Error

  /// The state, without the distinction between loading and reloading.
  var asLoadingState: LoadingState<LoadingValue, LoadingError> { get }
}

extension LoadingStateProtocol {
  /// Whether the value is being loaded or reloaded.
  public var isLoading: Bool {
    if case .loading = asLoadingState { true } else { false }
  }

  /// The value if it is loaded, otherwise `nil`.
  public var value: LoadingValue? {
    if case .loaded(let value) = asLoadingState { value } else { nil }
  }

  /// The error if loading failed, otherwise `nil`.
  public var error: LoadingError? {
    if case .failed(let error) = asLoadingState { error } else { nil }
  }
}

/// The state of loading a value.
public enum LoadingState<LoadingValue, LoadingError: Error>: LoadingStateProtocol {
  case loading
  case loaded(LoadingValue)
  case failed(LoadingError)

  public var asLoadingState: LoadingState { self }

  /// Returns whether the other state is the same case, regardless of value and error.
  public func isSameStateAs<OtherValue, OtherError>(
    _ other: LoadingState<OtherValue, OtherError>
  ) -> Bool {
    switch (self, other) {
    case (.loading, .loading), (.loaded, .loaded), (.failed, .failed): true
    case (.loading, _), (.loaded, _), (.failed, _): false
    }
  }
}

extension LoadingState: Equatable where LoadingValue: Equatable, LoadingError: Equatable {}
