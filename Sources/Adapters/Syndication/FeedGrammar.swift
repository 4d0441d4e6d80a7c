internal import Features

/// Builds a feed document from the elements of RSS and Atom.
///
/// RSS 2.0: <https://www.rssboard.org/rss-specification>; Atom: RFC 4287.
struct FeedGrammar {
  private static let atom = "http://www.w3.org/2005/Atom|"
  private static let rss1 = "http://purl.org/rss/1.0/|"
  private static let dublinCore = "http://purl.org/dc/elements/1.1/|"
  private static let content = "http://purl.org/rss/1.0/modules/content/|"
  private static let base = "http://www.w3.org/XML/1998/namespace|base"

  /// The root elements of feeds: RSS 2.0, RSS 1.0, Atom.
  static let roots: Set = ["rss", "http://www.w3.org/1999/02/22-rdf-syntax-ns#|RDF", atom + "feed"]

  private(set) var document = FeedDocument()

  /// The names of the open elements, without known namespaces.
  private var open: [String] = []

  /// The base URLs of relative addresses, with the depth at which each begins.
  ///
  /// The first is the URL of the feed.
  private var bases: [(depth: Int, url: String)]
  private var item: Item?

  /// The text of the current element and those inside it; `nil` if it is not needed.
  private var text: Text?

  private struct Text {
    let depth: Int

    /// Whether the text is escaped HTML.
    let isHTML: Bool
    var bytes: [UInt8] = []
  }

  private struct Item {
    let depth: Int
    var id: String?
    var title: String?

    /// The description, used if there is no title.
    var about: String?
    var url: String?
    var audio: Enclosure?

    /// Both addresses as written in the feed.
    ///
    /// They identify the item, wherever its feed is found.
    var urlText: String?
    var audioText: String?
    var published: String?
    var updated: String?
  }

  /// - Parameter url: The URL of the feed.
  init(at url: String) {
    bases = [(0, url)]
  }

  var wantsText: Bool { text != nil }

  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    let room = 4 * FeedText.maxTextBytes - (text?.bytes.count ?? 0)
    text?.bytes.append(contentsOf: bytes.prefix(max(0, room)))
  }

  mutating func begin(_ name: String, _ attributes: [String: String]) {
    let known = Self.plain(name)
    open.append(known)
    if let base = attributes[Self.base].flatMap(address) { bases.append((open.count, base)) }
    if text != nil {
      let plain = known.split(separator: "|").last.map(String.init) ?? known
      if FeedMarkup.breaks.contains(plain) { text?.bytes.append(UInt8(ascii: " ")) }
      return
    }
    if item == nil, known == "item" || known == "entry" {
      item = Item(depth: open.count)
    } else if let item, open.count == item.depth + 1 {
      switch known {
      case "title", "guid", "id", "pubDate", "published", "updated", "date":
        listen(isHTML: attributes["type"] == "html")
      case "description", "encoded": listen(isHTML: true)
      case "summary", "content": listen(isHTML: attributes["type"] == "html")
      case "link" where attributes["href"] == nil: listen()
      case "link": take(link: attributes)
      case "enclosure": take(enclosure: attributes, address: attributes["url"])
      default: break
      }
    } else if item == nil, ["channel", "feed"].contains(open.dropLast().last) {
      switch known {
      case "title": listen(isHTML: attributes["type"] == "html")
      case "link" where attributes["href"] == nil: listen()
      case "link" where ["alternate", nil].contains(attributes["rel"]):
        document.link = attributes["href"].flatMap(address)
      default: break
      }
    }
  }

  mutating func end() {
    guard let name = open.popLast() else { return }
    defer { if let last = bases.last, last.depth > open.count { bases.removeLast() } }
    if let text {
      guard open.count < text.depth else { return }
      self.text = nil
      let said = String(decoding: text.bytes, as: UTF8.self)
      if let line = (text.isHTML ? FeedMarkup.text(of: said) : said).asLine { take(line, of: name) }
    }
    if let item, open.count == item.depth - 1 {
      add(item)
      self.item = nil
    }
  }

  /// Starts collecting the text of the current element.
  private mutating func listen(isHTML: Bool = false) {
    text = Text(depth: open.count, isHTML: isHTML)
  }

  /// Resolves an address against the current base URL.
  private func address(_ text: String) -> String? {
    bases.last.flatMap { text.address(from: $0.url) }
  }

  /// Returns a name without its namespace if that is known, else the full name.
  private static func plain(_ name: String) -> String {
    for space in [atom, rss1, dublinCore, content] where name.hasPrefix(space) {
      return String(name.dropFirst(space.count))
    }
    return name
  }

  private mutating func take(_ line: String, of name: String) {
    guard item != nil else {
      if name == "title" { document.title = line } else { document.link = address(line) }
      return
    }
    switch name {
    case "title": item?.title = line
    case "guid", "id": item?.id = line
    case "description", "encoded", "summary", "content":
      if item?.about == nil { item?.about = line }
    case "link":
      let url = address(line)
      item?.url = url
      item?.urlText = line
    case "updated": item?.updated = FeedDate.parse(line)
    default: item?.published = FeedDate.parse(line)
    }
  }

  private mutating func take(link attributes: [String: String]) {
    switch attributes["rel"] {
    case nil, "alternate":
      guard item?.url == nil else { break }
      let url = attributes["href"].flatMap(address)
      item?.url = url
      item?.urlText = attributes["href"]?.asLine
    case "enclosure": take(enclosure: attributes, address: attributes["href"])
    default: break
    }
  }

  private mutating func take(enclosure attributes: [String: String], address: String?) {
    guard item?.audio == nil, let url = address.flatMap(self.address) else { return }
    item?.audioText = address?.asLine
    item?.audio = Enclosure(
      url: url, type: attributes["type"]?.asLine,
      bytes: attributes["length"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil })
  }

  private mutating func add(_ item: Item) {
    guard document.items.count < FeedText.maxItems,
      let key = item.id ?? item.audioText ?? item.urlText ?? item.title ?? item.about
    else { return }
    document.items.append(
      FeedItem(
        key: key, title: item.title ?? item.about?.asTitle ?? item.url ?? key, url: item.url,
        audio: item.audio, published: item.published ?? item.updated))
  }
}
