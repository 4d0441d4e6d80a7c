package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// Offers the feeds to clients.
package func bindFeeds(_ catalog: Catalog, to feeds: FeedsService) {
  catalog.offer(
    "Podcasts and news: feeds that are fetched while somebody watches.",
    feeds.ledger)
  catalog.offerSources(
    of: feeds.ledger,
    [
      .init(
        "feeds/*/episodes", "The episodes of a feed, newest first.",
        .array(Shape(of: Episode.self)), kind: .list)
    ],
    exists: { isEpisodes($0, of: feeds) }, beside: loadingFeeds(feeds))

  catalog.offerView(
    "feeds", of: "feeds", "All feeds, fetched while they are shown.", NoParameters.self,
    reads: { _ in [] },
    isOffered: { $0.mayReadEvents(of: "feeds") }  // the view shows all feeds
  ) { view, context, _ in
    bindFeeds(view, to: feeds, mayRefresh: context.role.mayCall("feeds.refresh"))
  }
  catalog.offerView(
    "feed", of: "feeds", "One feed and its newest episodes, fetched while it is shown.",
    FeedArguments.self,
    reads: { ["feeds/\($0.id)", Feeds.episodes(ofFeed: $0.id)] },
    within: ["feeds/*", "feeds/*/episodes"]
  ) { view, context, feed in
    _ = try feeds.feed(feed.id)
    bindFeed(view, to: feeds, feed, mayRefresh: context.role.mayCall("feeds.refresh"))
  }

  catalog.command(
    "feeds.subscribe", "Subscribes to a feed and fetches it; returns its id.",
    SubscribeToFeed.self, writes: ["feeds.subscribed"], errors: ["too_many"]
  ) { context, feed throws(FeedsError) in
    try context.subscribe(to: feed, of: feeds)
  }
  catalog.command(
    "feeds.unsubscribe", "Removes a feed and its episodes; returns its address.",
    NamedFeed.self, writes: ["feeds.unsubscribed"]
  ) { _, feed throws(FeedsError) in try feeds.unsubscribe(feed.id) }
  catalog.command(
    "feeds.refresh", "Fetches a feed, or all, now; returns how many.", RefreshFeed.self, writes: []
  ) { context, feed throws(FeedsError) in
    try context.refresh(feed.id, of: feeds)
  }
  catalog.command(
    "feeds.mark_played", "Marks an episode, or all of a feed, as played; returns how many.",
    MarkPlayed.self, writes: ["feeds.marked"]
  ) { _, mark throws(FeedsError) in
    try feeds.mark(mark.id, mark.episode, played: mark.played ?? true)
  }
  catalog.listQuery("feeds.list", "The feeds by id.", of: Feed.self) { context in
    context.rows(
      named: { Array(feeds.ledger.committed.ids) },
      changes: feeds.ledger.happened.map { String($0.place.stream.dropFirst("feeds/".count)) }
    ) { id in context.role.mayRead("feeds/\(id)") ? feeds.ledger.committed.feed(id) : nil }
  }
}

extension Feature {
  /// - Parameter stop: Cancels running web requests.
  package static func feeds(_ feeds: FeedsService, stop: @escaping () -> Void) -> Feature {
    let remover = Remover(
      method: "feeds.unsubscribe", names: { feeds.ledger.committed.ids.map { "feeds/\($0)" } },
      remove: { _ = try feeds.unsubscribe(String($0.dropFirst("feeds/".count))) })
    return Feature(
      removers: [remover], configure: { feeds.schedule = $0.feeds }, begin: feeds.start,
      stop: {
        feeds.stop()
        stop()
      }
    ) { bindFeeds($0, to: feeds) }
  }
}

private func isEpisodes(_ source: String, of feeds: FeedsService) -> Bool {
  Feeds.id(ofEpisodes: source).map { feeds.ledger.committed.feed($0) != nil } ?? false
}

/// Returns the sources `feeds/ID`, which show the loading state of each feed.
private func loadingFeeds(_ feeds: FeedsService) -> LoadingSources {
  let encoder = JSONEncoder()
  func text(_ id: String, _ state: FeedState?) -> JSONText? {
    let before = feeds.ledger.committed.feed(id).flatMap { $0.isKnown ? $0 : nil }
    return state.map { $0.text(before: before, encoder) }
  }
  func change(_ id: String, _ state: FeedState?) -> SourceChange {
    SourceChange(source: "feeds/\(id)", seq: 0, value: text(id, state))
  }
  return LoadingSources(
    description: .init(
      "feeds/*", "A feed, fetched while somebody watches.",
      Shape(of: Feed.self), kind: .loading),
    exists: { FeedsService.id(of: $0).flatMap(feeds.state) != nil },
    value: { source in
      FeedsService.id(of: source).flatMap { text($0, feeds.state(of: $0)) }
    },
    names: { feeds.ledger.committed.ids.map { "feeds/\($0)" } },
    changes: { source in
      guard let id = FeedsService.id(of: source) else { return .never() }
      return feeds.states(of: id).map { change(id, $0) }
    },
    changesWhere: { isWanted in
      feeds.states(where: { isWanted("feeds/\($0)") }).map { change($0.id, $0.state) }
    })
}

extension CallContext {
  /// Subscribes to a feed.
  ///
  /// If the caller may not see the feed that already uses this URL, the error omits its id.
  fileprivate func subscribe(
    to feed: SubscribeToFeed, of feeds: FeedsService
  ) throws(FeedsError) -> String {
    do throws(FeedsError) {
      return try feeds.subscribe(to: feed.url, as: feed.id)
    } catch {
      guard case .subscribed(_, let id) = error, !mayKnow("feeds/\(id)") else { throw error }
      throw .exists(id: feed.url)
    }
  }

  /// Fetches one feed, or all feeds that the role may know.
  ///
  /// A feed that it may not know is reported as missing.
  fileprivate func refresh(
    _ id: String?, of feeds: FeedsService
  ) throws(FeedsError) -> Int {
    if role.read.allowsAll { return try feeds.refresh(id) }
    guard let id else {
      var count = 0
      for id in feeds.ledger.pending.ids.sorted() where mayKnow("feeds/\(id)") {
        count += try feeds.refresh(id)
      }
      return count
    }
    guard mayKnow("feeds/\(id)") else {
      access.reportRefusal("to refresh feeds/\(id)")
      throw .unknown(id: id)
    }
    return try feeds.refresh(id)
  }
}

private let idDoc = "The id of the feed."

private struct SubscribeToFeed: DocumentedParameters, SourceParameters {
  let url: String
  let id: String?
  var source: String { "feeds/\(id ?? "*")" }

  static let docs = [
    "url": "http or https, of RSS, Atom or JSON; no user or password: everybody sees it.",
    "id": "The id: 1 to 64 of [A-Za-z0-9_.:-]; left out, the next number.",
  ]
}

private struct NamedFeed: DocumentedParameters, SourceParameters {
  let id: String
  var source: String { "feeds/\(id)" }

  static let docs = ["id": idDoc]
}

private struct RefreshFeed: DocumentedParameters {
  let id: String?

  static let docs = ["id": "The id of the feed; left out, all feeds."]
}

private struct MarkPlayed: DocumentedParameters, SourceParameters {
  let id: String
  let episode: Int?
  let played: Bool?
  var source: String { "feeds/\(id)" }

  static let docs = [
    "id": idDoc, "episode": "The id of the episode; left out, all of them.",
    "played": "Whether it counts as played; true when left out.",
  ]
}
