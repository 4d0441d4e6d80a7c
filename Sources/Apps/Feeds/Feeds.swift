package import EventSourcing
package import JSON
package import Model

/// The events of a feed; the stream is `feeds/ID`.
package enum FeedEvent: ServiceEvent, Codable, Equatable {
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

  package static var kinds: Set<String> {
    [
      "subscribed", "unsubscribed", "described", "validated", "found", "changed", "marked",
      "dropped",
    ]
  }
}

/// The state of all subscribed feeds and their episodes.
package struct Feeds: ServiceState, Codable {
  /// A feed.
  struct Entry: Codable, Equatable {
    var url: String
    var title: String?
    var link: String?
    var validators = Validators()

    /// The episodes, newest first.
    var episodes: [Episode] = []

    /// The number of the newest episode.
    var lastID = 0
    var unplayed = 0

    /// The uid of the subscribing user; `nil` if unknown.
    var maker: UInt32?
  }

  /// The feeds by id.
  private var entries: [String: Entry] = [:]

  /// The episodes of each feed as client JSON, by feed id.
  ///
  /// Cached, because they are sent more often than they change.
  private var texts: [String: [JSONText]] = [:]

  package init() {}

  package init(from decoder: any Decoder) throws {
    entries = try decoder.singleValueContainer().decode([String: Entry].self)
    texts = entries.mapValues { $0.episodes.map(\.text) }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(entries)
  }

  package static var isCollection: Bool { true }

  subscript(id: String) -> Entry? { entries[id] }

  /// The number of feeds.
  var count: Int { entries.count }

  /// Returns the number of feeds that a user has subscribed to.
  func count(of uid: UInt32) -> Int { entries.values.count { $0.maker == uid } }

  /// The ids of all feeds, in no particular order.
  package var ids: some Collection<String> { entries.keys }

  /// All feeds, ordered by id.
  package var all: [Feed] { entries.keys.sorted().compactMap(feed) }

  /// Returns a feed, or `nil` if it does not exist.
  package func feed(_ id: String) -> Feed? {
    entries[id].map { entry in
      Feed(
        id: id, url: entry.url, title: entry.title, link: entry.link,
        episodes: entry.episodes.count, unplayed: entry.unplayed)
    }
  }

  /// Returns the episodes of a feed, newest first.
  package func episodes(of id: String) -> [Episode] { entries[id]?.episodes ?? [] }

  /// Returns the feed id of a stream.
  static func id(of stream: String) -> String {
    String(stream.dropFirst("feeds/".count))
  }

  /// Checks that the feed exists and that an index refers to an episode.
  package func fault(of event: FeedEvent, at place: EventContext) -> String? {
    let id = Self.id(of: place.stream)
    if case .subscribed = event { return nil }
    guard let entry = entries[id] else { return "there is no feed \(id)" }
    switch event {
    case .found(let episode): return Self.fault(ofNumber: episode.id, after: entry.lastID)
    case .changed(let at, _), .marked(let at, _, _), .dropped(let at):
      let count = entry.episodes.count
      return 0..<count ~= at ? nil : "index \(at) is not within \(count) episodes"
    case .subscribed, .unsubscribed, .described, .validated: return nil
    }
  }

  package mutating func apply(_ event: FeedEvent, at place: EventContext) {
    guard fault(of: event, at: place) == nil else { return }
    let id = Self.id(of: place.stream)
    switch event {
    case .subscribed(let url): entries[id] = Entry(url: url, maker: place.uid)
    case .unsubscribed: (entries[id], texts[id]) = (nil, nil)
    case .described(let title, let link):
      entries[id]?.title = title
      entries[id]?.link = link
    case .validated(let validators): entries[id]?.validators = validators
    case .found(let episode):
      entries[id]?.add(episode)
      texts[id, default: []].insert(episode.text, at: 0)
    case .changed(let at, let episode):
      entries[id]?.set(episode, at: at)
      texts[id]?[at] = episode.text
    case .marked(let at, _, let played):
      guard var episode = entries[id]?.episodes[at] else { break }
      episode.played = played
      entries[id]?.set(episode, at: at)
      texts[id]?[at] = episode.text
    case .dropped(let at):
      entries[id]?.remove(at: at)
      texts[id]?.remove(at: at)
    }
  }

  // MARK: Sources

  /// Returns the source with the episodes of a feed.
  package static func episodes(ofFeed id: String) -> String { "feeds/\(id)/episodes" }

  /// Returns the feed id of an episodes source, or `nil` for any other source.
  package static func id(ofEpisodes source: String) -> String? {
    let parts = source.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "feeds", parts[2] == "episodes" else { return nil }
    return String(parts[1])
  }

  package func value(of source: String) -> JSONText? {
    guard let texts = Self.id(ofEpisodes: source).flatMap({ texts[$0] }), !texts.isEmpty else {
      return nil
    }
    return JSONText(elements: texts)
  }

  package func collection(of source: String) -> SourceCollection? {
    Self.id(ofEpisodes: source).map { .list(texts[$0] ?? []) }
  }

  package func has(_ source: String) -> Bool {
    Self.id(ofEpisodes: source).flatMap { texts[$0] }?.isEmpty == false
  }

  package var sources: some Sequence<String> {
    texts.lazy.filter { !$0.value.isEmpty }.map { Self.episodes(ofFeed: $0.key) }
  }

  package func size(of stream: Stream) -> Int {
    let id = Self.id(of: stream.name)
    return (texts[id] ?? []).reduce(entries[id]?.size ?? 0) { $0 + $1.text.utf8.count }
  }

  package func growth(by event: FeedEvent, in stream: Stream) -> Int? {
    let id = Self.id(of: stream.name)
    func size(_ index: Int) -> Int {
      guard let texts = texts[id], texts.indices ~= index else { return 0 }
      return texts[index].text.utf8.count
    }
    switch event {
    case .found(let episode): return episode.text.text.utf8.count
    case .changed(let at, let episode): return episode.text.text.utf8.count - size(at)
    case .dropped(let at): return -size(at)
    case .marked(let at, _, let played):
      guard let episodes = entries[id]?.episodes, episodes.indices ~= at else { return 0 }
      return JSONText(played).text.utf8.count - JSONText(episodes[at].played).text.utf8.count
    case .unsubscribed: return -self.size(of: stream)
    case .subscribed(let url): return Entry(url: url).size - (entries[id]?.size ?? 0)
    case .described(let title, let link):
      guard var entry = entries[id] else { return 0 }
      let before = entry.size
      (entry.title, entry.link) = (title, link)
      return entry.size - before
    case .validated: return 0
    }
  }

  // `reserveCapacity` copies a dictionary if its storage is shared.
  package mutating func makeUnique() {
    entries.reserveCapacity(entries.count)
    texts.reserveCapacity(texts.count)
  }

  package static func sources(changedBy event: FeedEvent, at place: EventContext) -> [String] {
    step(of: event) == nil ? [] : [place.stream + "/episodes"]
  }

  package static func changes(givenBy event: FeedEvent, at place: EventContext) -> [SourceChange]? {
    step(of: event).map {
      [SourceChange(source: place.stream + "/episodes", seq: place.seq, step: $0)]
    } ?? []
  }

  private static func step(of event: FeedEvent) -> CollectionChange? {
    switch event {
    case .found(let episode): .insert(at: 0, episode.text)
    case .changed(let at, let episode): .update(at: at, episode.text)
    case .marked(let at, _, let played):
      .merge(at: at, JSONText(member: "played", JSONText(played)))
    case .dropped(let at): .remove(at: at)
    case .unsubscribed: .reset(JSONText(elements: []))
    case .subscribed, .described, .validated: nil
    }
  }
}

extension Feeds.Entry {
  /// The size in bytes without the episodes.
  fileprivate var size: Int {
    url.utf8.count + (title?.utf8.count ?? 0) + (link?.utf8.count ?? 0)
  }

  fileprivate mutating func add(_ episode: Episode) {
    episodes.insert(episode, at: 0)
    lastID = max(lastID, episode.id)
    unplayed += episode.played ? 0 : 1
  }

  fileprivate mutating func set(_ episode: Episode, at index: Int) {
    unplayed += (episodes[index].played ? 1 : 0) - (episode.played ? 1 : 0)
    episodes[index] = episode
  }

  fileprivate mutating func remove(at index: Int) {
    unplayed -= episodes.remove(at: index).played ? 0 : 1
  }
}
