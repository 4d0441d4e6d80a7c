/// What the daemon may fetch.
package struct WebSettings: Equatable, Sendable {
  /// Whether addresses of this machine and its network may be fetched from.
  package var allowsLocal = false

  /// Where the web is searched, with `{term}` in place of what is looked for.
  package var search = "https://itunes.apple.com/search?term={term}&limit={limit}"
}

/// When feeds are fetched.
package struct FeedSettings: Equatable, Sendable {
  /// Seconds between two fetches of a feed.
  package var interval: UInt64 = 1800

  /// Whether feeds are also fetched that nobody watches.
  package var unwatched = false
}

extension ConfigurationParser {
  func readWeb(_ node: Node, into web: inout WebSettings) {
    guard let members = reader.members(of: node, "'web'", known: ["allow_local", "search"])
    else { return }
    if let node = members["search"],
      let address = reader.word(
        node, "'search'", "an address of http or https with {term} in it",
        {
          ($0.hasPrefix("https://") || $0.hasPrefix("http://")) && $0.contains("{term}") ? $0 : nil
        })
    {
      web.search = address
    }
    if let node = members["allow_local"], let value = reader.bool(node, "'allow_local'") {
      web.allowsLocal = value
    }
  }

  func readFeeds(_ node: Node, into feeds: inout FeedSettings) {
    guard
      let members = reader.members(of: node, "'feeds'", known: ["interval", "unwatched"])
    else { return }
    if let node = members["interval"],
      let seconds = reader.word(
        node, "'interval'", #"a time of at least ten seconds, such as "15m" or "12h""#,
        { Unit.seconds($0).flatMap { $0 >= 10 ? $0 : nil } })
    {
      feeds.interval = seconds
    }
    if let node = members["unwatched"], let value = reader.bool(node, "'unwatched'") {
      feeds.unwatched = value
    }
  }
}
