import AppAdapters
import Apps
import EventLoop
import Signals
import Testing

struct FeedWorkerTests {
  @Test
  func `texts are parsed on another thread, and a disposed observer receives nothing`() throws {
    let loop = try Loop()
    let worker = FeedWorker(on: loop)
    var heard: [String] = []
    var faults: [FeedTextFault] = []
    let bag = DisposeBag()
    func read(_ text: String) -> any Disposable {
      worker.read(FeedPage(Array(text.utf8), url: "http://a.example/")).observe { event in
        switch event {
        case .next(let document): heard.append(document.title ?? "")
        case .failed(let fault): faults.append(fault)
        case .completed: heard.append("end")
        }
      }
    }
    read("<rss><channel><title>left</title></channel></rss>").dispose()
    read("<rss><channel><title>one</title></channel></rss>").dispose(in: bag)
    read("\n<rss").dispose(in: bag)
    let alarm = try EventLoop.Timer(on: loop) { loop.stop() }
    alarm.start(afterMilliseconds: 60_000)
    while faults.isEmpty { loop.runOnce() }
    #expect(heard == ["one", "end"])
    #expect(faults.map(\.line) == [2])
    alarm.close()
    worker.close()
    loop.run()
  }

  @Test
  func `a closed worker does not parse pending texts`() throws {
    let loop = try Loop()
    let worker = FeedWorker(on: loop)
    let bag = DisposeBag()
    let items = String(repeating: "<item><title>x</title></item>", count: 150_000)
    let text = Array("<rss><channel>\(items)</channel></rss>".utf8)
    for i in 0..<2_000 {
      worker.read(FeedPage(text, url: "http://a.example/\(i)")).observe { _ in
        Issue.record("a result after the end")
      }
      .dispose(in: bag)
    }
    // Parsing 2,000 texts of 4 MB would exceed the time limit of any test run.
    worker.close()
    loop.run()
  }
}
