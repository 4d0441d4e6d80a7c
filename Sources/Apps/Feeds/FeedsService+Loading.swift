internal import Binder
package import Signals

/// The loading state of a feed, including whether earlier content is available.
package typealias FeedState = ObservedLoadingState<Feed, FeedFault>

/// A feed that is fetched while observed, and the result of its last fetch.
final class FeedLoad {
  /// The loading state; its value is the number of new episodes.
  typealias State = LoadingState<Int, FeedFault>

  /// The last state; `nil` before the first fetch.
  fileprivate(set) var state: State?

  /// Whether the feed's content was known when the last fetch began.
  fileprivate var isAgain = false

  /// The states of one fetch loop, shared by all observers.
  ///
  /// New observers receive the last state first.
  fileprivate(set) var states: SafeSignal<State> = .never()
}

extension FeedsService {
  // MARK: Observing

  /// Emits the loading state of a feed, now and after each change; `nil` if there is no such
  /// feed.
  ///
  /// While observed, the feed is fetched: at the first observation, at each interval, and on
  /// request. When the last observer leaves, a running fetch is cancelled.
  package func states(of id: String) -> SafeSignal<FeedState?> {
    let feeds = feeds(id)
    return feeds.map { $0?.url }.removeDuplicates().flatMapLatest {
      [self] url -> SafeSignal<(state: FeedState?, feed: Feed?)> in
      guard let url else { return SafeSignal(just: (nil, nil)) }
      let load = load(id, url)
      return load.states.combineLatest(with: feeds) { state, feed in
        (feed.map { load.seen(state, of: $0) }, feed)
      }
    }
    .removeDuplicates { before, now in
      guard case .failed? = now.state else { return before.state == now.state }
      // A failure is shown with the feed's known content, which may change.
      return before == now
    }
    .map(\.state)
  }

  /// Emits a feed, now and after each change, while it exists.
  package func values(of id: String) -> SafeSignal<Feed> {
    feeds(id).ignoreNils()
  }

  /// Emits a feed, now and after each change; `nil` if it does not exist.
  private func feeds(_ id: String) -> SafeSignal<Feed?> {
    SafeSignal { [ledger, changes = changes(of:)] observer in
      observer.receive(ledger.committed.feed(id))
      return changes(id).observeNext { _ in
        observer.receive(ledger.committed.feed(id))
      }
    }
    .removeDuplicates()
  }

  /// Emits after each event that changes a feed, also of an undo.
  func changes(of id: String) -> SafeSignal<Void> {
    ledger.events(of: \.feeds, id).map { _ in }
      .merge(with: ledger.restored.filter { $0.key() == id }.map { _ in })
  }

  /// Emits when the feed does not exist, now or later.
  package func isGone(_ id: String) -> SafeSignal<Void> {
    feeds(id).filter { $0 == nil }.map { _ in () }
  }

  /// Emits ``states(of:)`` of all feeds with a wanted id, including future ones.
  package func states(
    where isWanted: @escaping (String) -> Bool
  ) -> SafeSignal<(key: String, state: FeedState?)> {
    SafeSignal { [self] observer in
      var runs: [String: any Disposable] = [:]
      func look(at id: String) {
        if ledger.committed.feeds[id] == nil {
          guard let run = runs.removeValue(forKey: id) else { return }
          run.dispose()
          observer.receive((id, nil))
        } else if runs[id] == nil, isWanted(id) {
          runs[id] = NonDisposable.instance  // the state may arrive synchronously
          runs[id] = states(of: id).observeNext { observer.receive((id, $0)) }
        }
      }
      let feeds = subscriptions.observeNext(with: look)
      for id in ledger.committed.ids { look(at: id) }
      return BlockDisposable {
        feeds.dispose()
        for run in runs.values { run.dispose() }
      }
    }
  }

  /// Returns the loading state of a feed, observed or not; `nil` if there is no such feed.
  package func state(of id: String) -> FeedState? {
    guard let feed = ledger.committed.feed(id) else { return nil }
    if let load = loads[key(of: id, feed.url)], let state = load.state {
      return load.seen(state, of: feed)
    }
    return feed.isKnown ? .loaded(feed) : .loading
  }

  // MARK: Loading

  /// Returns the key of a fetch loop.
  ///
  /// It includes the address, because an id can be reused for another feed.
  func key(of id: String, _ url: String) -> String { "\(id) \(url)" }

  private func load(_ id: String, _ url: String) -> FeedLoad {
    let key = key(of: id, url)
    if let load = loads[key] { return load }
    let load = FeedLoad()
    loads[key] = load
    let times = interval.toSignal().flatMapLatest { [host] seconds in
      SafeSignal<Int>.interval(seconds, queue: host.scheduler).map { _ in () }.prepend(())
    }
    // Skips an interval while a fetch is still running, so that slow servers are not overloaded.
    let dues = times.filter { [weak load] _ in load?.state?.isLoading != true }
    let wishes = wanted.filter { $0 == id }.map { _ in () }
    load.states = dues.merge(with: wishes)
      .flatMapLatest { [unowned self, weak load] _ in states(of: load, fetching: id) }
      .share()
    return load
  }

  /// Runs one fetch and emits its states; if disposed early, the previous state is restored.
  private func states(of load: FeedLoad?, fetching id: String) -> SafeSignal<FeedLoad.State> {
    SafeSignal { [unowned self, weak load] observer in
      fetches += 1
      let before = load?.state
      load?.isAgain = ledger.pending.feed(id)?.isKnown ?? false
      let run = fetched(id).toLoadingSignal().observeNext { [weak load] state in
        load?.state = state
        observer.receive(state)
      }
      return BlockDisposable { [weak load] in
        run.dispose()
        if load?.state?.isLoading == true { load?.state = before }
      }
    }
  }
}

extension FeedLoad {
  /// Returns a state that distinguishes loading from reloading.
  ///
  /// - Parameter feed: The current feed.
  fileprivate func seen(_ state: State, of feed: Feed) -> FeedState {
    switch state {
    case .loading: isAgain ? .reloading : .loading
    case .loaded: .loaded(feed)
    case .failed(let fault): .failed(fault)
    }
  }
}
