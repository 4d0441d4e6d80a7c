import EventLoop
import Signals
import Testing

struct EventLoopExampleTests {
  /// Words and their meanings, for the example.
  private struct Dictionary {
    private let path: String

    init(_ path: String) { self.path = path }

    func find(_ word: String) -> String? { "\(word) in \(path)" }
  }

  @Test
  func `the example of Background works`() throws {
    let loop = try Loop()
    let bag = DisposeBag()
    let path = "words"
    var shown: [String?] = []
    func show(_ meaning: String?) { shown.append(meaning) }
    let words = Background(on: loop) { Dictionary(path) }
    words.run({ dictionary, _ in dictionary.find("loop") }, unavailable: { _ in .success(nil) })
      .observeNext { show($0) }.dispose(in: bag)
    while shown.isEmpty { loop.runOnce() }
    words.close()
    loop.run()
    #expect(shown == ["loop in words"])
  }
}
