import RxDialect
import SignalsDialects

// What the document uses and does not show: a view without a screen, a service, a clock.

struct CGRect {}

let CGRectZero = CGRect()

class UIView: DisposeBagProvider {
  let bag = DisposeBag()

  init(frame: CGRect) {}
}

final class UITextField: UIView {
  let text = Variable("")

  init() {
    super.init(frame: CGRectZero)
  }
}

extension Sugar where Host == UITextField {
  /// The text, and each later one.
  var text: Observable<String> { host.text.asObservable() }
}

class UIViewController {
  var view: UIView?

  func loadView() {}
}

struct ImageProvider {}

struct Context {
  let imageProvider: ImageProvider
}

extension PublishSubject {
  /// Creates a subject with a first element, as the document does; nobody observes it yet.
  convenience init(_ first: Element) {
    self.init()
    onNext(first)
  }
}

final class TableHandler {
  let data = Variable<SearchResults>([])
  let selectionEvents: Observable<SearchResult>
  private let selections = PublishSubject<SearchResult>()

  init(imageProvider: ImageProvider) {
    selectionEvents = selections.asObservable()
  }

  func select(_ row: Int) { selections.onNext(data.value[row]) }
}

struct SearchError: Error {}

struct SearchService {
  func search(_ term: String) -> Observable<SearchResults> {
    switch term {
    case "": Observable.just([])
    case "offline": Observable.error(SearchError())
    default: Observable.just([SearchResult(title: "\(term) I"), SearchResult(title: "\(term) II")])
    }
  }
}

/// A clock that stands still until the program advances it.
final class MainScheduler: Scheduler {
  /// Used by one thread only.
  nonisolated(unsafe) static let instance = MainScheduler()

  private var now = 0.0
  private var calls: [(due: Double, action: () -> Void)] = []

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    let call = SimpleDisposable()
    calls.append((now + seconds, { if !call.isDisposed { action() } }))
    return call
  }

  /// Runs the calls that are due within so many seconds.
  func advance(by seconds: Double) {
    now += seconds
    let due = calls.filter { $0.due <= now }.sorted { $0.due < $1.due }
    calls.removeAll { $0.due <= now }
    for call in due { call.action() }
  }
}
