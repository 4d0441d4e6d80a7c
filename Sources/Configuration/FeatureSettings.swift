/// The settings for web requests.
package struct WebSettings: Equatable, Sendable {
  /// Whether the daemon may fetch from this machine and its local network.
  package var allowsLocal = false

  /// The URL of the web search, with the placeholders `{term}` and `{limit}`.
  package var search = "https://itunes.apple.com/search?term={term}&limit={limit}"
}

/// The schedule of fetches; in addition, a feed is fetched when its first observer arrives.
package struct FeedSchedule: Equatable, Sendable {
  /// The interval between two fetches of a feed, in seconds.
  package var interval: UInt64

  /// Whether feeds without observers are fetched too.
  package var unwatched: Bool

  package init(interval: UInt64 = 1800, unwatched: Bool = false) {
    (self.interval, self.unwatched) = (interval, unwatched)
  }
}

extension ConfigurationParser {
  func readWeb(_ node: ConfigurationValue, into web: inout WebSettings) {
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

  func readFeeds(_ node: ConfigurationValue, into feeds: inout FeedSchedule) {
    guard
      let members = reader.members(of: node, "'feeds'", known: ["interval", "unwatched"])
    else { return }
    if let node = members["interval"],
      let seconds = reader.word(
        node, "'interval'", #"a time of at least ten seconds, such as "15m" or "12h""#,
        { ScaledNumber.seconds($0).flatMap { $0 >= 10 ? $0 : nil } })
    {
      feeds.interval = seconds
    }
    if let node = members["unwatched"], let value = reader.bool(node, "'unwatched'") {
      feeds.unwatched = value
    }
  }
}

/// The settings of the slow log.
package struct SlowLogSettings: Equatable, Sendable {
  /// The milliseconds from which a request is slow; 0 turns the log off.
  package var milliseconds = 0

  /// The number of requests to keep.
  package var size = 128
}

extension ConfigurationParser {
  func readSlowLog(_ node: ConfigurationValue, into settings: inout SlowLogSettings) {
    guard let members = reader.members(of: node, "'slow_log'", known: ["ms", "keep"]) else {
      return
    }
    if let node = members["ms"], let value = reader.integer(node, "'ms'", in: 0...86_400_000) {
      settings.milliseconds = value
    }
    if let node = members["keep"], let value = reader.integer(node, "'keep'", in: 1...1_000) {
      settings.size = value
    }
  }
}
