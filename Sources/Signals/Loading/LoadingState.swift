/// A state of something that is loaded.
package protocol LoadingStateProtocol<LoadingValue, LoadingError> {
  associatedtype LoadingValue
  associatedtype LoadingError: Error

  /// The state, without whether it was loaded before.
  var asLoadingState: LoadingState<LoadingValue, LoadingError> { get }
}

extension LoadingStateProtocol {
  /// Whether it is being loaded.
  package var isLoading: Bool {
    if case .loading = asLoadingState { true } else { false }
  }

  /// The value, when it is loaded.
  package var value: LoadingValue? {
    if case .loaded(let value) = asLoadingState { value } else { nil }
  }

  /// The error, when loading failed.
  package var error: LoadingError? {
    if case .failed(let error) = asLoadingState { error } else { nil }
  }
}

/// What loading something has come to.
package enum LoadingState<LoadingValue, LoadingError: Error>: LoadingStateProtocol {
  case loading
  case loaded(LoadingValue)
  case failed(LoadingError)

  package var asLoadingState: LoadingState { self }

  /// Whether the other is the same case, whatever its value or error.
  package func isSameStateAs<OtherValue, OtherError>(
    _ other: LoadingState<OtherValue, OtherError>
  ) -> Bool {
    switch (self, other) {
    case (.loading, .loading), (.loaded, .loaded), (.failed, .failed): true
    case (.loading, _), (.loaded, _), (.failed, _): false
    }
  }
}

extension LoadingState: Equatable where LoadingValue: Equatable, LoadingError: Equatable {}
