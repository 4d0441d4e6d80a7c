/// Makes view models of what comes from elsewhere: the only one who makes them.
package protocol DataController<Context, ViewModel, Failure>: AnyObject {
  associatedtype Context
  associatedtype ViewModel: BindViewModel
  associatedtype Failure: Error

  /// Loads what is asked for, as view models.
  func update(with context: Context) -> LoadingSignal<[ViewModel], Failure>
}

extension DataController {
  /// Loads what is asked for and tells the view models, or why there are none.
  package func update(
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
