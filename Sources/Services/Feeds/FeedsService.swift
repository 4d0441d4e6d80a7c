package import Signals

/// When feeds are fetched beside when somebody begins to watch.
package struct FeedSchedule: Equatable, Sendable {
  /// Seconds between two fetches of a feed.
  package var interval: Double

  /// Whether feeds are also fetched that nobody watches.
  package var unwatched: Bool

  package init(interval: Double = 1800, unwatched: Bool = false) {
    (self.interval, self.unwatched) = (interval, unwatched)
  }
}

/// Podcasts and news: feeds that are subscribed to, and what was found in them.
///
/// Subscriptions, episodes and what was played are journaled. That a feed is being fetched, and why
/// it could not be, is not: see ``states(of:)``.
package final class FeedsService {
  /// How many feeds there may be, and episodes of each: older ones are let go.
  package static let maxCount = 1000
  package static let maxEpisodes = 500

  /// Bytes of an address.
  package static let maxAddressBytes = 1024

  package let ledger: Ledger<Feeds>

  let host: ServiceHost
  let web: any WebClient
  let reader: any FeedReader
  let scheduler: any Scheduler

  /// The feeds that are to be fetched now, by id.
  let wanted = PassthroughSubject<String, Never>()
  let interval: Property<Double>

  /// What fetching has come to, of those that were fetched since the start; see ``key(of:)``.
  var loads: [String: FeedLoad] = [:]

  /// How many fetches were begun.
  var fetches = 0

  /// The ids of feeds that are there now and were not, or the other way round.
  let subscriptions = PassthroughSubject<String, Never>()
  private let observation = SerialDisposable(otherDisposable: nil)

  /// What fetches without anybody to watch: for as long as it takes, or on and on.
  private let bag = DisposeBag()
  private var unwatched: (any Disposable)?

  package init(
    in host: ServiceHost, web: any WebClient, reader: any FeedReader, on scheduler: any Scheduler,
    schedule: FeedSchedule = FeedSchedule()
  ) {
    (self.host, self.web, self.reader, self.scheduler) = (host, web, reader, scheduler)
    self.schedule = schedule
    interval = Property(schedule.interval)
    ledger = Ledger("feeds", in: host)
    observation.otherDisposable = ledger.happened.observeNext { [subscriptions] event, place in
      switch event {
      case .subscribed, .unsubscribed: subscriptions.send(Feeds.id(of: place.stream))
      default: break
      }
    }
  }

  /// When feeds are fetched; a change holds from now on, and fetches what is watched.
  package var schedule: FeedSchedule {
    didSet {
      if interval.value != schedule.interval { interval.value = schedule.interval }
      if unwatched != nil { start() }
    }
  }

  /// Begins to fetch what nobody watches, if that is wanted; after the start of the host.
  package func start() {
    unwatched?.dispose()
    unwatched =
      schedule.unwatched
      ? states(where: { _ in true }).observeNext { _ in } : NonDisposable.instance
  }

  /// Fetches nothing any more of its own accord.
  package func stop() {
    unwatched?.dispose()
    unwatched = nil
    bag.dispose()
  }

  // MARK: Subscriptions

  /// Subscribes to a feed, and fetches it once.
  ///
  /// - Parameter id: How it is called; `nil` for the next number.
  /// - Returns: How it is called.
  package func subscribe(to url: String, as id: String? = nil) throws(FeedsError) -> String {
    let url = try FeedAddress(url).text
    let feeds = ledger.newest
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

  /// Ends a subscription; its episodes go with it.
  ///
  /// - Returns: The address.
  package func unsubscribe(_ id: String) throws(FeedsError) -> String {
    let url = try entry(id).url
    loads[key(of: id, url)] = nil
    ledger.record(.unsubscribed, in: "feeds/\(id)")
    return url
  }

  /// Fetches a feed, or all of them, now and whether somebody watches or not.
  ///
  /// - Returns: How many.
  package func refresh(_ id: String? = nil) throws(FeedsError) -> Int {
    if let id { _ = try entry(id) }
    let ids = id.map { [$0] } ?? ledger.newest.ids.sorted()
    for id in ids { fetch(id) }
    return ids.count
  }

  /// Marks an episode, or all of a feed, as played or not.
  ///
  /// - Parameter number: The id of the episode; `nil` for all.
  /// - Returns: How many have changed.
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

  /// What is known of a feed, with all that was decided.
  package func feed(_ id: String) throws(FeedsError) -> Feed {
    guard let feed = ledger.newest.feed(id) else { throw .unknown(id: id) }
    return feed
  }

  private func entry(_ id: String) throws(FeedsError) -> Feeds.Entry {
    guard let entry = ledger.newest[id] else { throw .unknown(id: id) }
    return entry
  }

  private var freeNumber: String {
    var number = ledger.newest.count + 1
    while ledger.newest["\(number)"] != nil { number += 1 }
    return "\(number)"
  }

  // MARK: Fetching of its own accord

  private func fetchWhenDurable(_ id: String) {
    // It may never be: what the command has recorded can be taken back.
    host.durability(of: host.last).observe { [unowned self] event in
      guard case .next = event, ledger.shown[id] != nil else { return }
      // Not within what the journal tells: all services are to have heard of it.
      scheduler.schedule { [unowned self] in fetch(id) }.dispose(in: bag)
    }
    .dispose(in: bag)
  }

  /// Fetches a feed; when nobody watches it, until that is done.
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

  /// Whether something may be how a feed is called.
  package static func isID(_ text: String) -> Bool {
    text.utf8.count <= 64 && !text.utf8.contains(UInt8(ascii: "/"))
      && SourceName.fault(in: text) == nil
  }

  /// The feed that a source is the state of; `nil` for any other.
  package static func id(of source: String) -> String? {
    guard source.hasPrefix("feeds/") else { return nil }
    let id = String(source.dropFirst("feeds/".count))
    return isID(id) ? id : nil
  }
}
