package import Binder
internal import JSON
internal import Signals

/// Offers the feeds to clients.
package func bindFeeds(_ catalog: Catalog, to feeds: FeedsService) {
  let ledger = feeds.ledger
  catalog.offer("Podcasts and news: feeds that are fetched while somebody watches.", ledger)
  catalog.loaded(
    "feeds/*", "A feed, fetched while somebody watches.",
    keys: { Array(ledger.committed.ids) },
    known: { id in ledger.committed.feed(id).flatMap { $0.isKnown ? $0 : nil } },
    state: feeds.state(of:), states: feeds.states(of:), statesWhere: feeds.states(where:))
  let id = Parameter<String>("id", "The id of the feed.")
  catalog.command(
    "feeds.subscribe", "Subscribes to a feed and fetches it; returns its id.",
    Parameter<String>(
      "url", "http or https, of RSS, Atom or JSON; no user or password: everybody sees it."),
    Parameter<String?>(
      "id", "The id: 1 to 64 of [A-Za-z0-9_.:-]; left out, the next number."),
    records: "subscribed", rejects: "too_many", in: "feeds/{id}"
  ) { (caller: Caller, url: String, id: String?) in
    do {
      return try feeds.subscribe(to: url, as: id)
    } catch FeedsError.subscribed(_, let id) where !caller.mayKnow("feeds/\(id)") {
      throw FeedsError.exists(id: url)
    }
  }
  catalog.command(
    "feeds.unsubscribe", "Removes a feed and its episodes; returns its address.", id,
    records: "unsubscribed", in: "feeds/{id}", calls: feeds.unsubscribe)
  let refresh = catalog.command(
    "feeds.refresh", "Fetches a feed, or all, now; returns how many.",
    Parameter<String?>("id", "The id of the feed; left out, all feeds.")
  ) { (caller: Caller, id: String?) in
    if let id, !caller.mayKnow("feeds/\(id)") {
      caller.reportRefusal("to refresh feeds/\(id)")
      throw FeedsError.unknown(id: id)
    }
    return try feeds.refresh(id) { caller.mayKnow("feeds/\($0)") }
  }
  catalog.command(
    "feeds.mark_played", "Marks an episode, or all of a feed, as played; returns how many.", id,
    Parameter<Int?>("episode", "The id of the episode; left out, all of them."),
    Parameter("played", "Whether it counts as played; true when left out.", default: true),
    records: "marked", in: "feeds/{id}", calls: feeds.mark)
  catalog.list("feeds.list", "The feeds by id.", \.feeds, of: ledger, as: Feed.self)
  catalog.removal(of: \.feeds, ledger, as: "feeds.unsubscribe") { _ = try feeds.unsubscribe($0) }

  catalog.view(
    "feeds", "All feeds, fetched while they are shown.", reads: "feeds/**"
  ) { bindFeeds($0, to: feeds, refresh) }
  catalog.view(
    "feed", "One feed and its newest episodes, fetched while it is shown.",
    Parameter<String>("id"), Parameter<Int?>("newest"),
    reads: "feeds/{id}", "feeds/{id}/episodes"
  ) { view, id, newest in try bindFeed(view, to: feeds, id, newest: newest, refresh) }
}

/// Shows all feeds, which are fetched while the view is open.
private func bindFeeds(_ view: View, to feeds: FeedsService, _ refresh: Method) {
  view.bind("feeds", to: feeds.rows)
  view.hide("url", of: "feeds")
  view.intent("open", Parameter<String>("id"), Parameter<Int?>("newest"), opens: "feed") {
    (id: String, _: Int?) in _ = try feeds.feed(id)
  }
  .main()
  view.intent(
    "add", Parameter<String>("url"), Parameter<String?>("id"), calls: feeds.subscribe)
  view.intent("refresh", calls: refresh, with: ["id": .null])
}

/// Shows one feed and its newest episodes.
///
/// The feed is fetched while the view is open; the view closes when the feed is unsubscribed.
///
/// - Parameter newest: The maximum number of episodes; if omitted, 50, which fit into a line of the
///   default length.
private func bindFeed(
  _ view: View, to feeds: FeedsService, _ id: String, newest: Int?, _ refresh: Method
) throws {
  _ = try feeds.feed(id)
  view.bind("feed", to: feeds.values(of: id))
  view.hide("id", "link", of: "feed")
  view.bindState(of: "feed", to: feeds.states(of: id).ignoreNils())
  view.bindList("episodes", to: feeds.episodes(of: id, newest: max(0, newest ?? 50)))
  view.hide("url", "audio", "key", of: "episodes")
  view.observe(feeds.isGone(id)) { view.dismiss() }
  view.intent("mark_played", Parameter<Int?>("episode"), Parameter<Bool?>("played")) {
    (episode: Int?, played: Bool?) in try feeds.mark(id, episode, played: played ?? true)
  }
  .main()
  view.intent("refresh", calls: refresh, with: ["id": .string(id)])
  view.intent("unsubscribe") { try feeds.unsubscribe(id) }.destructive()
}
