import JSON
import RxDialect

// What the document uses of UIKit and Foundation, without a screen and without a network.

class UIViewController {
  /// The view that a storyboard connects with the outlet of the controller.
  let view = UITableView()

  func viewDidLoad() {}

  func viewDidAppear(_ animated: Bool) {}
}

struct IndexPath {
  let item: Int
}

final class UILabel {
  var text = ""
}

final class UITableViewCell {
  let textLabel: UILabel? = UILabel()
}

protocol UITableViewDataSource: AnyObject {
  func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int
  func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell
}

final class UITableView {
  weak var dataSource: (any UITableViewDataSource)?
  private(set) var rows: [String] = []

  func reloadData() {
    guard let dataSource else { return }
    rows = (0..<dataSource.tableView(self, numberOfRowsInSection: 0)).map {
      dataSource.tableView(self, cellForRowAt: IndexPath(item: $0)).textLabel?.text ?? ""
    }
  }

  func dequeueReusableCell(
    withIdentifier identifier: String, for indexPath: IndexPath
  ) -> UITableViewCell {
    UITableViewCell()
  }
}

final class UIWindow {
  var rootViewController: UIViewController?

  func makeKeyAndVisible() {
    if let controller = rootViewController as? ViewController {
      controller.tableView = controller.view
    }
    rootViewController?.viewDidLoad()
    rootViewController?.viewDidAppear(false)
  }
}

typealias Data = JSONText

struct NetworkError: Error {}

struct URL {
  let string: String

  init?(string: String) {
    self.string = string
  }
}

/// A network that answers when it is asked to.
final class URLSession {
  typealias Completion = (Data?, String?, (any Error)?) -> Void

  final class Task {
    fileprivate let completion: Completion
    fileprivate private(set) var isWaiting = false

    fileprivate init(_ completion: @escaping Completion) {
      self.completion = completion
    }

    func resume() { isWaiting = true }

    func cancel() { isWaiting = false }
  }

  /// Used by one thread only.
  nonisolated(unsafe) static let shared = URLSession()

  private var tasks: [Task] = []

  /// The number of requests so far.
  var requests: Int { tasks.count }

  func dataTask(with url: URL, completionHandler: @escaping Completion) -> Task {
    let task = Task(completionHandler)
    tasks.append(task)
    return task
  }

  /// Answers the waiting requests: with data, or with an error when there is none.
  func answer(_ data: Data?) {
    for task in tasks where task.isWaiting {
      task.completion(data, "response", data == nil ? NetworkError() : nil)
    }
  }
}

/// The main thread's queue of calls.
final class MainScheduler: Scheduler {
  /// Used by one thread only.
  nonisolated(unsafe) static let instance = MainScheduler()

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
