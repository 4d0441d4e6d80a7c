package import Binder
internal import JSON

/// The subscribed feeds and their episodes; the events of a feed are in the stream `feeds/ID`.
package struct Feeds: State {
  package enum Event: Codable, Equatable, Sendable {
    case subscribed(url: String)
    case unsubscribed

    /// The title or the link of the feed changed.
    case described(title: String?, link: String?)

    /// The validators of the last read response changed.
    case validated(validators: Validators)

    /// A new episode was found; it is inserted before all others.
    case found(episode: Episode)

    /// The feed changed the data of an episode.
    case changed(at: Int, episode: Episode)

    /// An episode was marked as played or as not played.
    case marked(at: Int, id: Int, played: Bool)

    /// An old episode was dropped, because the feed exceeds the limit.
    case dropped(at: Int)
  }

  /// A feed without its episodes.
  package struct Entry: Codable, Equatable, Sendable {
    package var url: String
    package var title: String?
    package var link: String?
    var validators = Validators()

    /// The number of episodes, and of those not played yet.
    package var episodes = 0
    package var unplayed = 0

    /// The number of the newest episode.
    var lastID = 0

    /// The uid of the subscribing user; `nil` if unknown.
    var maker: UInt32?
  }

  /// The feeds by id.
  package private(set) var feeds = Table<String, Entry>()

  /// The episodes of each feed, newest first.
  private var episodes = Lists<String, Episode>()

  package init() {}

  package static let sources = [
    Source.hidden(\Feeds.feeds, in: "feeds/*"),
    .lists(
      \.episodes, "feeds/*/episodes", "The episodes of a feed, newest first.", in: "feeds/*",
      isMerging: true),
  ]

  /// Excepts the events that tell what the feed on the web has.
  package static func obstacle(toUndoing event: Event) -> String? {
    switch event {
    case .subscribed, .unsubscribed, .marked: nil
    case .described, .validated, .found, .changed, .dropped: "the feed on the web says so"
    }
  }

  /// The ids of all feeds, in no particular order.
  package var ids: some Collection<String> { feeds.keys }

  /// Returns a feed, or `nil` if it does not exist.
  package func feed(_ id: String) -> Feed? { feeds[id].map { Feed(id, $0) } }

  /// Returns the episodes of a feed, newest first.
  package func episodes(of id: String) -> [Episode] { episodes[id] }

  /// Checks that the feed exists and that an index refers to an episode.
  package func fault(of event: Event, at context: EventContext) -> String? {
    guard let id: String = context.key() else { return "the stream is not that of a feed" }
    if case .subscribed = event { return nil }
    guard let feed = feeds[id] else { return "there is no feed \(id)" }
    switch event {
    case .found(let episode):
      return episode.id > feed.lastID
        ? nil : "number \(episode.id) is not after \(feed.lastID)"
    case .changed(let at, _), .marked(let at, _, _), .dropped(let at):
      return 0..<feed.episodes ~= at
        ? nil : "index \(at) is not within \(feed.episodes) episodes"
    case .subscribed, .unsubscribed, .described, .validated: return nil
    }
  }

  package mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: String = context.key(), fault(of: event, at: context) == nil else { return }
    switch event {
    case .subscribed(let url):
      feeds[id] = Entry(url: url, maker: context.user)
      episodes[id] = []
    case .unsubscribed:
      feeds[id] = nil
      episodes[id] = []
    case .described(let title, let link):
      feeds[id]?.title = title
      feeds[id]?.link = link
    case .validated(let validators): feeds[id]?.validators = validators
    case .found(let episode):
      episodes.insert(episode, at: 0, in: id)
      feeds[id]?.lastID = episode.id
      count(1, episode, id)
    case .changed(let at, let episode): set(episode, at, id)
    case .marked(let at, _, let played):
      var episode = episodes[id][at]
      episode.played = played
      set(episode, at, id)
    case .dropped(let at):
      count(-1, episodes[id][at], id)
      episodes.remove(at: at, in: id)
    }
  }

  private mutating func set(_ episode: Episode, _ at: Int, _ id: String) {
    count(-1, episodes[id][at], id)
    count(1, episode, id)
    episodes.update(episode, at: at, in: id)
  }

  /// Counts an episode that comes or goes.
  private mutating func count(_ number: Int, _ episode: Episode, _ id: String) {
    feeds[id]?.episodes += number
    if !episode.played { feeds[id]?.unplayed += number }
  }

  /// 1: `{"ID":{"url":…,"episodes":[…]}}`; 2: `{"feeds":{"rows":{"ID":{…}}},"episodes":{"ID":[…]}}`.
  package static let forms = [
    Upcaster.ofMembers { kept in
      var (rows, lists): ([String: JSONText], [String: JSONText]) = (kept, [:])
      for (id, feed) in kept {
        guard var members = feed.members, let episodes = members["episodes"]?.elements else {
          continue
        }
        members["episodes"] = JSONText(episodes.count)
        rows[id] = JSONText(members: members)
        if !episodes.isEmpty { lists[id] = JSONText(elements: episodes) }
      }
      kept = [
        "feeds": JSONText(members: ["rows": JSONText(members: rows)]),
        "episodes": JSONText(members: lists),
      ]
    }
  ]
}
