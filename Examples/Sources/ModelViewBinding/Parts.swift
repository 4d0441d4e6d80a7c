import Signals
import SignalsDialects

// What the document uses and does not show: a view without a screen, a service, a clock.

class UIView: DisposeBagProvider {
  let bag = DisposeBag()
}

final class UITextField: UIView {
  let text = Property("")
}

extension Sugar where Host == UITextField {
  /// The text, and each later one.
  var text: Property<String> { host.text }
}

class UIViewController<View: UIView> {
  var view: View?

  func loadView() {}
}

struct ImageProvider {}

struct Context {
  let imageProvider: ImageProvider
  let scheduler: any Scheduler
}

final class TableHandler {
  let data = Property<SearchResults>([])
  let selectionEvents = PassthroughSubject<SearchResult, Never>()

  init(imageProvider: ImageProvider) {}

  func select(_ row: Int) { selectionEvents.send(data.value[row]) }
}

struct SearchError: Error {}

struct SearchService {
  func search(_ term: String) -> Signal<SearchResults, SearchError> {
    switch term {
    case "": Signal(just: [])
    case "offline": .failed(SearchError())
    default: Signal(just: [SearchResult(title: "\(term) I"), SearchResult(title: "\(term) II")])
    }
  }
}

/// A clock that stands still until somebody advances it.
final class Clock: Scheduler {
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
