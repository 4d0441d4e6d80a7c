public import Signals

/// Creates view models from external data.
///
/// No other type creates them.
public protocol DataController<Context, ViewModel, Failure>: AnyObject {
  associatedtype Context
  associatedtype ViewModel: BindViewModel
  associatedtype Failure: Error

  /// Loads the data for a context, as view models.
  func update(with context: Context) -> LoadingSignal<[ViewModel], Failure>
}

extension DataController {
  /// Loads the data for a context and calls the handler with the view models or an error.
  public func update(
    with context: Context, viewModelsHandler: @escaping (Result<[ViewModel], Failure>) -> Void
  ) -> any Disposable {
    update(with: context).observeNext { state in
      switch state {
      case .loading: break
      case .loaded(let viewModels): viewModelsHandler(.success(viewModels))
      case .failed(let error): viewModelsHandler(.failure(error))
      }
    }
  }
}
