internal import Binder
internal import Signals

extension FeedsService {
  /// Fetches a feed and records its changes.
  ///
  /// Emits the number of new episodes once they are durable. If only the beginning of the feed could
  /// be read, its episodes are kept, and the fetch then fails.
  func fetched(_ id: String) -> Signal<Int, FeedFault> {
    guard let entry = ledger.pending.feeds[id] else { return .completed() }
    return web.get(request(entry)).mapError { FeedFault.server($0) }.flatMapLatest {
      [unowned self] response -> Signal<Int, FeedFault> in
      // Not modified.
      guard response.status != 304 else { return Signal(just: 0) }
      let page = FeedPage(
        response.body, url: response.url ?? entry.url, charset: response.charset)
      return reader.read(page).mapError { FeedFault.text($0) }.flatMapLatest {
        [unowned self] document -> Signal<Int, FeedFault> in
        guard let fault = document.fault else { return keep(document, Validators(response), id) }
        // Without new validators the server sends the feed again.
        return keep(document, entry.validators, id).flatMapLatest { _ in
          Signal<Int, FeedFault>.failed(.text(fault))
        }
      }
    }
  }

  /// Returns a conditional request for a feed.
  private func request(_ entry: Feeds.Entry) -> WebRequest {
    var headers = [
      "Accept": "application/rss+xml, application/atom+xml, application/feed+json, "
        + "application/json, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5"
    ]
    headers["If-None-Match"] = entry.validators.etag
    headers["If-Modified-Since"] = entry.validators.modified
    return WebRequest(entry.url, headers: headers)
  }

  /// Records a document under the user who subscribed, or else under the daemon.
  private func keep(
    _ document: FeedDocument, _ validators: Validators, _ id: String
  ) -> Signal<Int, FeedFault> {
    do {
      let found = try host.perform("feeds.fetch", as: ledger.pending.feeds[id]?.maker) {
        record(document, validators, id)
      }
      return host.durability().map { _ in found }.mapError { _ in .journal }
    } catch {
      return .failed(.journal)
    }
  }

  /// Records the changes between the stored feed and a document.
  ///
  /// - Returns: The number of new episodes.
  private func record(_ document: FeedDocument, _ validators: Validators, _ id: String) -> Int {
    guard let entry = ledger.pending.feeds[id] else { return 0 }
    let episodes = ledger.pending.episodes(of: id)
    func record(_ event: Feeds.Event) { ledger.record(event, of: \.feeds, id) }
    let isPart = document.fault != nil
    let title = document.title ?? (isPart ? entry.title : nil)
    let link = document.link ?? (isPart ? entry.link : nil)
    if title != entry.title || link != entry.link {
      record(.described(title: title, link: link))
    }
    var places: [String: Int] = [:]
    for (i, episode) in episodes.enumerated() { places[episode.key] = i }
    var (seen, new): (Set<String>, [FeedItem]) = ([], [])
    let numbersLeft = Int.max - entry.lastID
    for item in document.newestFirst.prefix(min(Self.maxEpisodes, numbersLeft))
    where seen.insert(item.key).inserted {
      guard let place = places[item.key] else {
        new.append(item)
        continue
      }
      let old = episodes[place]
      let episode = Episode(item, id: old.id, played: old.played)
      if episode != old { record(.changed(at: place, episode: episode)) }
    }
    // The newest item goes last, so that it gets the first place and the highest number.
    for (i, item) in new.reversed().enumerated() {
      record(.found(episode: Episode(item, id: entry.lastID + 1 + i)))
    }
    let count = episodes.count + new.count
    for place in (Self.maxEpisodes..<max(count, Self.maxEpisodes)).reversed() {
      record(.dropped(at: place))
    }
    if validators != entry.validators {
      record(.validated(validators: validators))
    }
    return new.count
  }
}

extension FeedDocument {
  /// The items, newest first if all of them have a date, otherwise in document order.
  fileprivate var newestFirst: [FeedItem] {
    guard items.allSatisfy({ $0.published != nil }) else { return items }
    return items.enumerated().sorted { left, right in
      let (mine, other) = (left.element.published ?? "", right.element.published ?? "")
      return mine == other ? left.offset < right.offset : mine > other
    }
    .map(\.element)
  }
}

extension Validators {
  /// Reads the validators of a response; ignores those that are too long to send back.
  fileprivate init(_ response: WebResponse) {
    func header(_ name: String) -> String? {
      response.headers[name].flatMap { 1...256 ~= $0.utf8.count ? $0 : nil }
    }
    self.init(etag: header("etag"), modified: header("last-modified"))
  }
}
