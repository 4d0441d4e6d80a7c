import RxDialect
import SignalsDialects

// Searchy, the example of "Model - View - Binding", in its own words.

struct SearchResult {
  let title: String
}

typealias SearchResults = [SearchResult]

// Binding

enum SearchyBinding {
  static func bindView(
    _ view: SearchyView, model: SearchyModel, selectionHandler: @escaping (SearchResult) -> Void
  ) {
    view.rxs.disposeBag
      ++ view.searchResults <~ model.searchResults
      ++ model.searchTerm <~ view.searchTerm
      ++ selectionHandler <~ view.selectionEvents
  }

  /// It is possible to build this without the custom operators, as well.
  static func bindViewInWords(
    _ view: SearchyView, model: SearchyModel, selectionHandler: @escaping (SearchResult) -> Void
  ) {
    model.searchResults.bindTo(view.searchResults).addDisposableTo(view.rx_disposeBag)
    view.searchTerm.bindTo(model.searchTerm).addDisposableTo(view.rx_disposeBag)
    view.selectionEvents.subscribeNext(selectionHandler).addDisposableTo(view.rx_disposeBag)
  }
}

// View Controller

final class SearchyViewController: UIViewController {
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
    let searchyView = SearchyView(imageProvider: context.imageProvider)
    SearchyBinding.bindView(searchyView, model: model, selectionHandler: self.selectionHandler)
    view = searchyView
  }
}

// View

final class SearchyView: UIView {
  private let disposeBag = DisposeBag()
  private let tableHandler: TableHandler
  private let textField = UITextField()

  private let _searchResults = PublishSubject<SearchResults>([])

  let searchTerm: Observable<String>
  let searchResults: AnyObserver<SearchResults>
  let selectionEvents: Observable<SearchResult>

  init(imageProvider: ImageProvider) {
    tableHandler = TableHandler(imageProvider: imageProvider)
    selectionEvents = tableHandler.selectionEvents
    searchTerm = textField.rxs.text.debounce(0.33, scheduler: MainScheduler.instance)
    searchResults = _searchResults.asObserver()

    super.init(frame: CGRectZero)

    disposeBag ++ tableHandler.data <~ _searchResults
  }

  // What a person does and sees.

  func type(_ text: String) { textField.text.value = text }

  func select(_ row: Int) { tableHandler.select(row) }

  var rows: [String] { tableHandler.data.value.map(\.title) }
}

// Model

class SearchyModel {
  let searchTerm = Variable<String>("")
  let searchResults: Observable<SearchResults>

  init(searchService: SearchService) {
    searchResults = searchTerm.asObservable()
      .map(SearchyModel.stripWhitespace)
      .flatMapLatest(SearchyModel.searchTerm(searchService))
      .catchErrorJustReturn([])
      .share()
  }

  // Not in the document.

  private static func stripWhitespace(_ text: String) -> String {
    String(text.drop { $0 == " " })
  }

  private static func searchTerm(
    _ service: SearchService
  ) -> (String) -> Observable<SearchResults> {
    { service.search($0) }
  }
}
