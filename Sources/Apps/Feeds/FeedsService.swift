package import Configuration
package import EventSourcing
package import Signals

/// Podcasts and news: the subscribed feeds and their episodes.
///
/// Subscriptions, episodes and played marks are journaled. Loading states are not; see
/// ``states(of:)``.
package final class FeedsService {
  /// The maximum number of feeds, and of episodes in each; the oldest episodes are dropped.
  package static let maxCount = 1000
  package static let maxEpisodes = 500

  /// The maximum length of an address in bytes.
  package static let maxAddressBytes = 1024

  package let ledger: Ledger<Feeds>

  let host: ServiceHost
  let web: any WebClient
  let reader: any FeedReader
  let scheduler: any Scheduler

  /// Emits the ids of feeds to fetch now.
  let wanted = PassthroughSubject<String, Never>()
  let interval: Property<Double>

  /// The fetch loops since the start of the daemon; see ``key(of:_:)``.
  var loads: [String: FeedLoad] = [:]

  /// The number of fetches begun.
  var fetches = 0

  /// Emits the ids of feeds that were subscribed to or unsubscribed from.
  let subscriptions = PassthroughSubject<String, Never>()
  private let observation = SerialDisposable(otherDisposable: nil)

  /// Fetches that run without observers.
  private let bag = DisposeBag()
  private var unwatched: (any Disposable)?

  package init(
    in host: ServiceHost, web: any WebClient, reader: any FeedReader, on scheduler: any Scheduler,
    schedule: FeedSchedule = FeedSchedule()
  ) {
    (self.host, self.web, self.reader, self.scheduler) = (host, web, reader, scheduler)
    self.schedule = schedule
    interval = Property(Double(schedule.interval))
    ledger = Ledger("feeds", in: host)
    observation.otherDisposable = ledger.happened.observeNext { [subscriptions] event, place in
      switch event {
      case .subscribed, .unsubscribed: subscriptions.send(Feeds.id(of: place.stream))
      default: break
      }
    }
  }

  /// The fetch schedule; a new interval takes effect at once and fetches all observed feeds.
  package var schedule: FeedSchedule {
    didSet {
      let seconds = Double(schedule.interval)
      if interval.value != seconds { interval.value = seconds }
      if unwatched != nil { start() }
    }
  }

  /// Begins to fetch unobserved feeds if the schedule requires it.
  ///
  /// Call it after the host has started.
  package func start() {
    unwatched?.dispose()
    unwatched =
      schedule.unwatched
      ? states(where: { _ in true }).observeNext { _ in } : NonDisposable.instance
  }

  /// Ends all fetches that run without observers.
  package func stop() {
    unwatched?.dispose()
    unwatched = nil
    bag.dispose()
  }

  // MARK: Subscriptions

  /// Subscribes to a feed and fetches it once.
  ///
  /// - Parameter id: The id of the feed; `nil` for the next free number.
  /// - Returns: The id of the feed.
  package func subscribe(to url: String, as id: String? = nil) throws(FeedsError) -> String {
    let url = try FeedAddress(url).text
    let feeds = ledger.pending
    if let id {
      guard Self.isID(id) else { throw .badID }
      guard feeds[id] == nil else { throw .exists(id: id) }
    }
    if let known = feeds.ids.first(where: { feeds[$0]?.url == url }) {
      throw .subscribed(url: url, id: known)
    }
    guard feeds.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    if let max = host.exhaustedShare(of: Self.maxCount, feeds.count(of:)) {
      throw .tooManyOfUser(max: max)
    }
    let id = id ?? freeNumber
    ledger.record(.subscribed(url: url), in: "feeds/\(id)")
    fetchWhenDurable(id)
    return id
  }

  /// Ends a subscription and removes its episodes.
  ///
  /// - Returns: The address of the feed.
  package func unsubscribe(_ id: String) throws(FeedsError) -> String {
    let url = try entry(id).url
    loads[key(of: id, url)] = nil
    ledger.record(.unsubscribed, in: "feeds/\(id)")
    return url
  }

  /// Fetches a feed or all feeds now, observed or not.
  ///
  /// - Returns: The number of feeds.
  package func refresh(_ id: String? = nil) throws(FeedsError) -> Int {
    if let id { _ = try entry(id) }
    let ids = id.map { [$0] } ?? ledger.pending.ids.sorted()
    for id in ids { fetch(id) }
    return ids.count
  }

  /// Marks an episode, or all episodes of a feed, as played or not.
  ///
  /// - Parameter number: The number of the episode; `nil` for all.
  /// - Returns: The number of changed episodes.
  package func mark(
    _ id: String, _ number: Int? = nil, played: Bool = true
  ) throws(FeedsError) -> Int {
    let episodes = try entry(id).episodes
    if let number, !episodes.contains(where: { $0.id == number }) {
      throw .noEpisode(number, id: id)
    }
    var count = 0
    for (i, episode) in episodes.enumerated()
    where episode.played != played && (number == nil || number == episode.id) {
      ledger.record(.marked(at: i, id: episode.id, played: played), in: "feeds/\(id)")
      count += 1
    }
    return count
  }

  /// Returns a feed from the pending state, which includes events that are not durable yet.
  package func feed(_ id: String) throws(FeedsError) -> Feed {
    guard let feed = ledger.pending.feed(id) else { throw .unknown(id: id) }
    return feed
  }

  private func entry(_ id: String) throws(FeedsError) -> Feeds.Entry {
    guard let entry = ledger.pending[id] else { throw .unknown(id: id) }
    return entry
  }

  private var freeNumber: String {
    var number = ledger.pending.count + 1
    while ledger.pending["\(number)"] != nil { number += 1 }
    return "\(number)"
  }

  // MARK: Unobserved fetches

  private func fetchWhenDurable(_ id: String) {
    // The subscription may never become durable: its command can still be rolled back.
    host.durability(of: host.last).observe { [unowned self] event in
      guard case .next = event, ledger.committed[id] != nil else { return }
      // Deferred until all services have handled the new events.
      scheduler.schedule { [unowned self] in fetch(id) }.dispose(in: bag)
    }
    .dispose(in: bag)
  }

  /// Fetches a feed; if it has no observers, observes it until the fetch is done.
  private func fetch(_ id: String) {
    let before = fetches
    wanted.send(id)
    guard fetches == before else { return }
    var hasBegun = false
    states(of: id).prefix(while: { state in
      let isLoading = state?.isLoading ?? false
      defer { hasBegun = hasBegun || isLoading }
      return isLoading || !hasBegun && state != nil
    })
    .observe { _ in }
    .dispose(in: bag)
  }

  // MARK: Rules

  /// Returns whether a text is a valid feed id.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count <= 64 && !text.utf8.contains(UInt8(ascii: "/"))
      && SourceName.fault(in: text) == nil
  }

  /// Returns the feed id of a feed's source, or `nil` for any other source.
  package static func id(of source: String) -> String? {
    guard source.hasPrefix("feeds/") else { return nil }
    let id = String(source.dropFirst("feeds/".count))
    return isID(id) ? id : nil
  }
}
