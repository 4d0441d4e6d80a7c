package import Signals

/// What fetching a feed has come to, as one sees it who knows what was there before.
package typealias FeedState = ObservedLoadingState<Feed, FeedFault>

/// One feed that is fetched while somebody watches, and what that has come to.
final class FeedLoad {
  /// How many episodes were new.
  typealias State = LoadingState<Int, FeedFault>

  /// What it has come to last; `nil` when it has come to nothing yet.
  fileprivate(set) var state: State?

  /// Whether the feed was known when it was fetched last.
  fileprivate var isAgain = false

  /// One run for all who watch: they are told the last state first.
  fileprivate(set) var states: SafeSignal<State> = .never()
}

extension FeedsService {
  // MARK: Watching

  /// What fetching a feed has come to, now and from now on; `nil` when there is no such feed.
  ///
  /// While somebody observes, the feed is fetched: when the first one comes, at the interval, and
  /// when that is asked for. When the last one leaves, a fetch that is under way is ended.
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
      // What is shown beside a failure is the feed as it is known, and that may change.
      return before == now
    }
    .map(\.state)
  }

  /// What is known of a feed, now and after each change, while there is one.
  package func values(of id: String) -> SafeSignal<Feed> {
    feeds(id).ignoreNils()
  }

  /// What is known of a feed, now and after each change; `nil` when there is none.
  private func feeds(_ id: String) -> SafeSignal<Feed?> {
    SafeSignal { [ledger] observer in
      observer.receive(ledger.shown.feed(id))
      return ledger.events(in: "feeds/\(id)").observeNext { _ in
        observer.receive(ledger.shown.feed(id))
      }
    }
    .removeDuplicates()
  }

  /// Emits when there is no such feed any more.
  package func isGone(_ id: String) -> SafeSignal<Void> {
    feeds(id).filter { $0 == nil }.map { _ in () }
  }

  /// The same as ``states(of:)`` of all feeds whose ids are wanted, as long as there are such feeds.
  package func states(
    where isWanted: @escaping (String) -> Bool
  ) -> SafeSignal<(id: String, state: FeedState?)> {
    SafeSignal { [self] observer in
      var runs: [String: any Disposable] = [:]
      func look(at id: String) {
        if ledger.shown[id] == nil {
          guard let run = runs.removeValue(forKey: id) else { return }
          run.dispose()
          observer.receive((id, nil))
        } else if runs[id] == nil, isWanted(id) {
          runs[id] = NonDisposable.instance  // it may be told at once
          runs[id] = states(of: id).observeNext { observer.receive((id, $0)) }
        }
      }
      let feeds = subscriptions.observeNext(with: look)
      for id in ledger.shown.ids { look(at: id) }
      return BlockDisposable {
        feeds.dispose()
        for run in runs.values { run.dispose() }
      }
    }
  }

  /// What fetching a feed has come to, whether somebody watches or not; `nil` when there is no such
  /// feed.
  package func state(of id: String) -> FeedState? {
    guard let feed = ledger.shown.feed(id) else { return nil }
    if let load = loads[key(of: id, feed.url)], let state = load.state {
      return load.seen(state, of: feed)
    }
    return feed.isKnown ? .loaded(feed) : .loading
  }

  // MARK: Loading

  /// A feed of another address is another one, also under the same id.
  func key(of id: String, _ url: String) -> String { "\(id) \(url)" }

  private func load(_ id: String, _ url: String) -> FeedLoad {
    let key = key(of: id, url)
    if let load = loads[key] { return load }
    let load = FeedLoad()
    loads[key] = load
    let times = interval.toSignal().flatMapLatest { [scheduler] seconds in
      SafeSignal<Int>.interval(seconds, queue: scheduler).map { _ in () }.prepend(())
    }
    // A server that takes longer than the interval is not asked again and again.
    let dues = times.filter { [weak load] _ in load?.state?.isLoading != true }
    let wishes = wanted.filter { $0 == id }.map { _ in () }
    load.states = dues.merge(with: wishes)
      .flatMapLatest { [unowned self, weak load] _ in states(of: load, fetching: id) }
      .share()
    return load
  }

  /// One fetch, and what it comes to; ended early, it is as before.
  private func states(of load: FeedLoad?, fetching id: String) -> SafeSignal<FeedLoad.State> {
    SafeSignal { [unowned self, weak load] observer in
      fetches += 1
      let before = load?.state
      load?.isAgain = ledger.newest.feed(id)?.isKnown ?? false
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

extension Feed {
  /// Whether it was read at least once.
  package var isKnown: Bool { title != nil || link != nil || episodes > 0 }
}

extension FeedLoad {
  /// A state as one sees it who knows what was there before.
  ///
  /// - Parameter feed: What is known of the feed by now.
  fileprivate func seen(_ state: State, of feed: Feed) -> FeedState {
    switch state {
    case .loading: isAgain ? .reloading : .loading
    case .loaded: .loaded(feed)
    case .failed(let fault): .failed(fault)
    }
  }
}
