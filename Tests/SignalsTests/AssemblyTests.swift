import Signals
import SignalsTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct AssemblyTests {
  final class View: DisposeBagProvider {
    let bag = DisposeBag()
    let taps = PassthroughSubject<Void, Never>()
    var title = ""
    var names: [String] = []
    var count = 0
  }

  @Test
  func `the order of a binder's lines does not matter`() {
    for seed in 0..<50 {
      let view = View()
      var taps = 0
      // A source that emits once, at once.
      let fetch = Signal<[String], Never>(just: ["a", "b"]).publish()
      let lines: [(Assembly) -> Void] = [
        { $0.assign { view.title = "friends" } },
        { $0.bind { fetch.bind(to: view) { $0.names = $1 } } },
        { $0.bind { fetch.map(\.count).bind(to: view) { $0.count = $1 } } },
        { $0.bind { SafeSignal(just: "new friends").bind(to: view) { $0.title = $1 } } },
        { $0.observe { view.taps.observeNext { taps += 1 }.dispose(in: view.bag) } },
        { $0.connect { fetch.connect().dispose(in: view.bag) } },
      ]
      var random = Random(seed)
      Assembly.run { assembly in
        for line in lines.shuffled(using: &random) { line(assembly) }
      }
      view.taps.send()
      #expect(view.title == "new friends")
      #expect(view.names == ["a", "b"])
      #expect(view.count == 2)
      #expect(taps == 1)
      view.bag.dispose()
    }
  }
}
