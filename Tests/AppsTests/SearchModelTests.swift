import Apps
import ServiceTestSupport
import Signals
import TestSupport
import Testing

/// A search backend whose answers the test controls.
private final class HandBackend: SearchBackend {
  let name = "hand"
  let doc = "What a test says."
  private(set) var asked: [String] = []
  private(set) var cancelled: [String] = []
  private var answered: Set<Int> = []
  private var observers: [AtomicObserver<[SearchHit], SearchError>] = []

  func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> {
    Signal { [self] observer in
      asked.append(term)
      observers.append(observer)
      let number = observers.count - 1
      return BlockDisposable { [self] in if !answered.contains(number) { cancelled.append(term) } }
    }
  }

  func answer(_ i: Int, _ ids: String...) {
    answered.insert(i)
    observers[i].receive(lastElement: ids.map { SearchHit(id: $0, title: $0, text: "") })
  }

  func fail(_ i: Int) {
    answered.insert(i)
    observers[i].fail(.failed("gone"))
  }
}

@Suite(.leavesNothing)
struct SearchModelTests {
  private let time = ManualScheduler()
  private let backend = HandBackend()
  private let search: SearchService

  init() {
    search = SearchService([backend], on: time)
  }

  @Test
  func `a term is trimmed and searched after a third of a second without typing`() throws {
    let model = try search.model()
    var results: [[String]] = []
    var states: [Bool] = []
    let bag = DisposeBag()
    model.results.observeNext { results.append($0.map(\.id)) }.dispose(in: bag)
    model.isSearching.observeNext { states.append($0) }.dispose(in: bag)
    for term in ["b", " bi", " bin "] {
      model.term.value = term
      time.advance(0.3)
    }
    #expect(backend.asked == [])
    time.advance(0.03)
    #expect(backend.asked == ["bin"], "once for both who observe")
    model.term.value = "bin  "
    time.advance(1)
    #expect(backend.asked == ["bin"], "it is the same term")
    backend.answer(0, "a", "b")
    #expect(results == [[], ["a", "b"]])
    #expect(states == [false, true, false])
    #expect(try model.hit("b").title == "b")
    #expect(throws: SearchError.notFound(id: "c")) { try model.hit("c") }
    bag.dispose()
  }

  @Test
  func `the newest request wins, and the older one is cancelled`() throws {
    let model = try search.model()
    var results: [[String]] = []
    let run = model.results.observeNext { results.append($0.map(\.id)) }
    for term in ["old", "new"] {
      model.term.value = term
      time.advance(0.33)
    }
    #expect(backend.asked == ["old", "new"])
    #expect(backend.cancelled == ["old"])
    backend.answer(0, "old")
    backend.answer(1, "new")
    #expect(results == [[], ["new"]])
    model.term.value = ""
    time.advance(0.33)
    #expect(results.last == [])
    #expect(backend.asked.count == 2, "nothing is not looked for")
    run.dispose()
    #expect(time.count == 0)
  }

  @Test
  func `a failure is reported with an empty result, and the next search works`() throws {
    let model = try search.model()
    var results: [[String]] = []
    var failures: [SearchError?] = []
    let bag = DisposeBag()
    model.results.observeNext { results.append($0.map(\.id)) }.dispose(in: bag)
    model.failure.observeNext { failures.append($0) }.dispose(in: bag)
    for (i, term) in ["a", "b", "c"].enumerated() {
      model.term.value = term
      time.advance(0.33)
      if term == "b" { backend.fail(i) } else { backend.answer(i, term) }
    }
    #expect(results == [[], ["a"], [], ["c"]])
    #expect(failures == [nil, .failed("gone"), nil])
    bag.dispose()
  }

  @Test
  func `a web search requests an address and parses the answer`() throws {
    let web = FakeWeb()
    let search = WebSearch("https://example.org/s?q={term}&n={limit}", by: web)
    var found: [[SearchHit]] = []
    var errors: [SearchError] = []
    func find(_ term: String) -> any Disposable {
      search.find(term, limit: 2).observe { event in
        switch event {
        case .next(let hits): found.append(hits)
        case .failed(let error): errors.append(error)
        case .completed: break
        }
      }
    }
    _ = find("grüner tee & co")
    #expect(
      web.requests.map(\.url) == ["https://example.org/s?q=gr%C3%BCner%20tee%20%26%20co&n=2"])
    web.answer(
      """
      {"resultCount":3,"results":[
        {"trackId":7,"trackName":"Tea","artistName":"Kim","trackViewUrl":"https://example.org/7",
         "artworkUrl60":"https://example.org/60.jpg","artworkUrl100":"https://example.org/100.jpg"},
        {"collectionName":"Cups","artistName":"Lee"}, {"id":"9","title":"more than asked for"}]}
      """)
    #expect(
      found == [
        [
          SearchHit(
            id: "7", title: "Tea", text: "Kim", url: "https://example.org/7",
            image: "https://example.org/100.jpg"),
          SearchHit(id: "1", title: "Cups", text: "Lee"),
        ]
      ])
    for answer in ["", "[]", #"{"results":1}"#, String(repeating: " ", count: (1 << 20) + 1)] {
      _ = find("x")
      web.answer(answer)
    }
    #expect(errors == Array(repeating: .failed("the answer cannot be parsed"), count: 4))
    _ = find("x")
    web.fail(.timedOut)
    #expect(errors.last == .failed("the server was too slow"))
    let run = find("x")
    #expect(web.count == 1)
    run.dispose()
    #expect(web.count == 0, "the transfer is ended")
  }

  @Test
  func `web results are single-line texts with web addresses and unique names`() {
    let web = FakeWeb()
    let search = WebSearch("https://example.org/s?q={term}", by: web)
    var found: [SearchHit] = []
    let run = search.find("x", limit: 9).observe { event in
      if case .next(let hits) = event { found = hits }
    }
    web.answer(
      #"""
      {"results":[
        {"id":"7","title":" a\u001b[2J\u202e\n b ","text":"\u009b31m","url":"javascript:alert(1)"},
        {"id":"7","title":"\u200e","name":"c","url":"HTTPS://example.org/\u0007c"},
        {"id":7,"title":"d","trackViewUrl":"file:///x","url":"http://example.org/d"},
        {"id":"7.1","title":"e","url":"http://example.org/a b"}
      ]}
      """#)
    run.dispose()
    #expect(
      found == [
        SearchHit(id: "7", title: "a[2J b", text: "31m"),
        SearchHit(id: "7.1", title: "c", text: "", url: "HTTPS://example.org/c"),
        SearchHit(id: "7.2", title: "d", text: "", url: "http://example.org/d"),
        SearchHit(id: "7.1.3", title: "e", text: ""),
      ])
  }

  @Test
  func `the parameters of a single search are validated`() throws {
    func error(_ body: () throws -> Void) -> SearchError? {
      do {
        try body()
        return nil
      } catch {
        return error as? SearchError
      }
    }
    #expect(error { _ = try search.find("  ") } == .badTerm)
    #expect(error { _ = try search.find(String(repeating: "x", count: 401)) } == .badTerm)
    let accents = "a" + String(repeating: "\u{301}", count: 200)
    #expect(error { _ = try search.find(accents) } == .badTerm, "one character, and 401 bytes")
    #expect(error { _ = try search.find("x", limit: 0) } == .badLimit)
    #expect(
      error { _ = try search.find("x", in: "web") } == .unknownBackend("web", known: ["hand"]))
    let run = try search.find(" x ", in: "hand").observe { _ in }
    #expect(backend.asked == ["x"])
    run.dispose()
    #expect(backend.cancelled == ["x"])
  }
}
