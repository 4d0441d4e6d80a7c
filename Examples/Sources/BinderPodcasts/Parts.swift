import Signals

// What the document uses of UIKit and Foundation, without a screen and without a network.

class UIViewController: DisposeBagProvider {
  let bag = DisposeBag()

  func viewDidLoad() {}

  func viewDidAppear(_ animated: Bool) {}
}

final class UITableViewCell {
  var text = ""
}

protocol UITableViewDataSource: AnyObject {
  var numberOfRows: Int { get }
  func cell(forRow row: Int) -> UITableViewCell
}

final class UITableView {
  weak var dataSource: (any UITableViewDataSource)?
  private(set) var rows: [String] = []

  func reloadData() {
    guard let dataSource else { return }
    rows = (0..<dataSource.numberOfRows).map { dataSource.cell(forRow: $0).text }
  }
}

final class UIWindow {
  var rootViewController: UIViewController?

  func makeKeyAndVisible() {
    rootViewController?.viewDidLoad()
    rootViewController?.viewDidAppear(false)
  }
}

struct NetworkError: Error {}

/// A network that answers when it is asked to.
final class URLSession {
  final class Task {
    fileprivate let completion: (String?, NetworkError?) -> Void
    fileprivate private(set) var isWaiting = false

    fileprivate init(_ completion: @escaping (String?, NetworkError?) -> Void) {
      self.completion = completion
    }

    func resume() { isWaiting = true }

    func cancel() { isWaiting = false }
  }

  private var tasks: [Task] = []

  /// The number of requests so far.
  var requests: Int { tasks.count }

  func dataTask(with url: String, completion: @escaping (String?, NetworkError?) -> Void) -> Task {
    let task = Task(completion)
    tasks.append(task)
    return task
  }

  /// Answers the waiting requests: with data, or with an error when there is none.
  func answer(_ data: String?) {
    for task in tasks where task.isWaiting {
      task.completion(data, data == nil ? NetworkError() : nil)
    }
  }
}

struct FeedDecoder {
  struct NoFeed: Error {}

  /// Returns the feed with one podcast for each line `ID TITLE`.
  func decode(_ data: String) throws(NoFeed) -> Feed {
    var podcasts: [Podcast] = []
    for line in data.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let id = Int(parts[0]) else { throw NoFeed() }
      podcasts.append(Podcast(id: id, title: String(parts[1])))
    }
    return Feed(podcasts: podcasts)
  }
}

/// The main thread's queue of calls.
final class MainScheduler: Scheduler {
  private var calls: [() -> Void] = []

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    let call = SimpleDisposable()
    calls.append { if !call.isDisposed { action() } }
    return call
  }

  func run() {
    let due = calls
    calls = []
    for call in due { call() }
  }
}
