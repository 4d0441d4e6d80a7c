import Signals
import SignalsDialects
import SignalsTestSupport
import TestSupport
import Testing

// Searchy, the example of RxSugar.

private struct SearchResult: Equatable {
  let title: String
}

private final class SearchService {
  var searches: [String] = []

  func search(_ term: String) -> Signal<[SearchResult], Broken> {
    searches.append(term)
    return term == "broken" ? .failed(Broken()) : Signal(just: [SearchResult(title: term + "!")])
  }
}

private final class SearchyModel {
  let searchTerm = Property("")
  let searchResults: SafeSignal<[SearchResult]>

  init(_ service: SearchService) {
    searchResults = searchTerm.toSignal()
      .map { String($0.drop { $0 == " " }) }
      .flatMapLatest { service.search($0).replaceError(with: []) }
      .share()
  }
}

private final class SearchyView: DisposeBagProvider {
  let bag = DisposeBag()
  let searchResults = Property<[SearchResult]>([])
  let searchTerm = PassthroughSubject<String, Never>()
  let selectionEvents = PassthroughSubject<SearchResult, Never>()
}

extension SignalProtocol {
  fileprivate func replaceError(with element: Element) -> SafeSignal<Element> {
    flatMapError { _ in SafeSignal(just: element) }
  }
}

private enum SearchyBinding {
  static func bindView(
    _ view: SearchyView, model: SearchyModel, selectionHandler: @escaping (SearchResult) -> Void
  ) {
    view.rxs.disposeBag
      ++ view.searchResults <~ model.searchResults
      ++ model.searchTerm <~ view.searchTerm
      ++ selectionHandler <~ view.selectionEvents
  }
}

@Suite(.leavesNothing)
struct RxSugarTests {
  @Test
  func `one function makes all bindings of a view`() {
    let service = SearchService()
    let model = SearchyModel(service)
    var selected: [SearchResult] = []
    do {
      let view = SearchyView()
      SearchyBinding.bindView(view, model: model) { selected.append($0) }
      view.searchTerm.send("  abba")
      #expect(view.searchResults.value == [SearchResult(title: "abba!")])
      view.searchTerm.send("broken")
      #expect(view.searchResults.value == [])
      view.selectionEvents.send(SearchResult(title: "x"))
      #expect(selected == [SearchResult(title: "x")])
      #expect(service.searches == ["", "abba", "broken"])
    }
    // All bindings of the function end with the view.
    #expect(!model.searchTerm.hasObservers)
  }

  @Test
  func `an observable is bound to an observer, to one of optionals and to a closure`() {
    let numbers = PassthroughSubject<Int, Never>()
    let (observer, optional) = (Property(0), Property<Int?>(nil))
    var heard: [Int] = []
    let bag = DisposeBag()
    bag
      ++ observer <~ numbers.map { $0 + 1 }
      ++ optional <~ numbers
      ++ { heard.append($0) } <~ numbers
      ++ numbers ~> optional
      ++ numbers.map { $0 * 10 } ~> { heard.append($0) }
    numbers.send(1)
    #expect(observer.value == 2)
    #expect(optional.value == 1)
    #expect(heard == [1, 10])
    bag.dispose()
    numbers.send(2)
    #expect(observer.value == 2)
    #expect(heard == [1, 10])
    #expect(!numbers.hasObservers)
  }

  @Test
  func `an observable sends its events to an observer of any kind`() {
    let (source, target) = (PassthroughSubject<Int, Broken>(), PassthroughSubject<Int, Broken>())
    let recorder = Recorder<Int, Broken>()
    let bag = DisposeBag()
    target.observe(with: recorder.tell).dispose(in: bag)
    bag ++ AnyObserver(observer: target.on) <~ source
    source.send(1)
    source.on(.failed(Broken()))
    #expect(recorder.events == [.next(1), .failed(Broken())])
    bag.dispose()
  }

  @Test
  func `a composite also takes disposables`() {
    let numbers = PassthroughSubject<Int, Never>()
    var heard: [Int] = []
    let composite = CompositeDisposable()
    composite ++ { heard.append($0) } <~ numbers
    numbers.send(1)
    composite.dispose()
    numbers.send(2)
    #expect(heard == [1])
  }

  @Test
  func `a value setter does not retain its object`() {
    final class Host: DisposeBagProvider {
      let bag = DisposeBag()
      var number = 0
    }
    let numbers = Property(1)
    weak var host: Host?
    var ends: [Signal<Void, Never>.Event] = []
    do {
      let held = Host()
      host = held
      _ = held.rxs.onDeinit.observe { ends.append($0) }
      held.rxs.disposeBag ++ held.rxs.valueSetter { $0.number = $1 } <~ numbers
      numbers.value = 2
      #expect(held.number == 2)
      #expect(ends.isEmpty)
    }
    #expect(host == nil)
    #expect(ends.map(\.isNext) == [true, false])
    #expect(!numbers.hasObservers)
  }
}
