import Signals
import SignalsDialects

// Searchy, the example of "Model - View - Binding".

struct SearchResult {
  let title: String
}

typealias SearchResults = [SearchResult]

// Binding: one function connects a model and a view.

enum SearchyBinding {
  static func bindView(
    _ view: SearchyView, model: SearchyModel, selectionHandler: @escaping (SearchResult) -> Void
  ) {
    view.rxs.disposeBag
      ++ view.searchResults <~ model.searchResults
      ++ model.searchTerm <~ view.searchTerm
      ++ selectionHandler <~ view.selectionEvents
  }

  /// The same without the operators.
  static func bindViewInWords(
    _ view: SearchyView, model: SearchyModel, selectionHandler: @escaping (SearchResult) -> Void
  ) {
    model.searchResults.observe(with: view.searchResults).dispose(in: view.rxs.disposeBag)
    view.searchTerm.bind(to: model.searchTerm).dispose(in: view.rxs.disposeBag)
    view.selectionEvents.observeNext(with: selectionHandler).dispose(in: view.rxs.disposeBag)
  }
}

// View Controller: it navigates, and creates the view and the binding.

final class SearchyViewController: UIViewController<SearchyView> {
  private let context: Context
  private let model: SearchyModel
  private let selectionHandler: (SearchResult) -> Void

  init(
    context: Context, model: SearchyModel, selectionHandler: @escaping (SearchResult) -> Void
  ) {
    self.context = context
    self.model = model
    self.selectionHandler = selectionHandler
  }

  override func loadView() {
    let searchyView = SearchyView(
      imageProvider: context.imageProvider, scheduler: context.scheduler)
    SearchyBinding.bindView(searchyView, model: model, selectionHandler: self.selectionHandler)
    view = searchyView
  }
}

// View: it takes immutable data and emits what the user asks.

final class SearchyView: UIView {
  private let disposeBag = DisposeBag()
  private let tableHandler: TableHandler
  private let textField = UITextField()

  private let _searchResults = PassthroughSubject<SearchResults, Never>()

  let searchResults: AnyObserver<SearchResults, Never>
  let searchTerm: SafeSignal<String>
  let selectionEvents: SafeSignal<SearchResult>

  init(imageProvider: ImageProvider, scheduler: any Scheduler) {
    tableHandler = TableHandler(imageProvider: imageProvider)
    selectionEvents = tableHandler.selectionEvents.toSignal()
    searchTerm = textField.rxs.text.debounce(for: 0.33, queue: scheduler)
    searchResults = AnyObserver(observer: _searchResults.on)

    super.init()

    disposeBag ++ tableHandler.data <~ _searchResults
  }

  func type(_ text: String) { textField.text.value = text }

  func select(_ row: Int) { tableHandler.select(row) }

  var rows: [String] { tableHandler.data.value.map(\.title) }
}

// Model: it manages the state of the data.

final class SearchyModel {
  let searchTerm = Property<String>("")
  let searchResults: SafeSignal<SearchResults>

  init(searchService: SearchService) {
    searchResults = searchTerm.toSignal()
      .map(SearchyModel.stripWhitespace)
      .flatMapLatest { SearchyModel.searchTerm(searchService)($0).replaceError(with: []) }
      .share()
  }

  private static func stripWhitespace(_ text: String) -> String {
    String(text.drop { $0 == " " })
  }

  private static func searchTerm(
    _ service: SearchService
  ) -> (String) -> Signal<SearchResults, SearchError> {
    { service.search($0) }
  }
}
