import Signals

// "Binder Architecture with RxSwift", with the names of this library.

struct Podcast {
  let id: Int
  let title: String
}

struct Feed {
  let podcasts: [Podcast]
}

// The fetch: each observer starts a request, and ends it when it leaves.

enum APIError: Error {
  case serverError
  case parsingError
}

final class API {
  private let session: URLSession

  init(session: URLSession) { self.session = session }

  func fetchPodcasts() -> Signal<Feed, APIError> {
    Signal { [session] observer in
      let task = session.dataTask(with: "http://localhost:9000/podcasts-feed") { data, error in
        guard let data, error == nil else {
          observer.fail(.serverError)
          return
        }
        do {
          let feed = try FeedDecoder().decode(data)
          observer.receive(feed)
          observer.complete()
        } catch {
          observer.fail(.parsingError)
        }
      }
      task.resume()
      return BlockDisposable {
        task.cancel()
      }
    }
  }
}

// The view controller: it names its views and its model, and knows no service.

final class ViewController: UIViewController {
  // specifying the "model"
  let feed = Property(Feed(podcasts: []))
  // specifying the view
  let tableView = UITableView()

  // specifying some binding helpers
  let didAppear = PassthroughSubject<Void, Never>()

  override func viewDidAppear(_ animated: Bool) {
    super.viewDidAppear(animated)
    // let the service know we are ready
    didAppear.send()
  }

  override func viewDidLoad() {
    super.viewDidLoad()
    // set up our view
    tableView.dataSource = self
  }
}

extension ViewController: UITableViewDataSource {
  var numberOfRows: Int {
    feed.value.podcasts.count
  }

  func cell(forRow row: Int) -> UITableViewCell {
    let cell = UITableViewCell()
    let podcast = feed.value.podcasts[row]
    cell.text = podcast.title
    return cell
  }
}

final class Service {
  let api: API

  init(api: API) { self.api = api }
}

// The binder.

extension ViewController {
  class func make(service: Service, on scheduler: any Scheduler) -> ViewController {
    let controller = ViewController()
    controller.didAppear
      .bind(to: controller) { controller in
        let fetch = service.api.fetchPodcasts()
          .suppressError()
          .share(keepAlive: true)

        fetch.bind(to: controller.feed)
          .dispose(in: controller.bag)

        fetch
          .receive(on: scheduler)
          .bind(to: controller) { controller, _ in controller.tableView.reloadData() }
      }
    return controller
  }
}
