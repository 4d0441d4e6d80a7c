internal import Apps
internal import CExpat

/// Parses RSS and Atom with expat.
enum XMLFeed {
  /// Maximum depth of nested elements.
  private static let maxDepth = 64

  static func parse(
    _ page: FeedPage, while isWanted: () -> Bool
  ) throws(FeedTextFault) -> FeedDocument {
    try withoutActuallyEscaping(isWanted) { isWanted throws(FeedTextFault) in
      try parse(page, whileWanted: isWanted)
    }
  }

  private static func parse(
    _ page: FeedPage, whileWanted isWanted: @escaping () -> Bool
  ) throws(FeedTextFault) -> FeedDocument {
    let text = XMLRepair.repair(try utf8(of: page))
    // Expat joins the namespace and the name of an element with this separator.
    let separator = XML_Char(bitPattern: UInt8(ascii: "|"))
    // The encoding overrides the one that the text declares.
    guard let parser = XML_ParserCreateNS("UTF-8", separator) else {
      throw FeedTextFault("no memory")
    }
    defer { XML_ParserFree(parser) }
    let run = Run(parser, FeedGrammar(at: page.url), text, isWanted)
    // Not retained: `run` lives longer than the calls of the parser.
    XML_SetUserData(parser, Unmanaged.passUnretained(run).toOpaque())
    XML_SetElementHandler(parser, elementBegan, elementEnded)
    XML_SetCharacterDataHandler(parser, textCame)
    XML_SetEntityDeclHandler(parser, entityIsDeclared)
    XML_SetAttlistDeclHandler(parser, attributeIsDeclared)
    let status = text.bytes.withUnsafeBytes { bytes in
      XML_Parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, CInt(bytes.count), 1)
    }
    return try withExtendedLifetime(run) { () throws(FeedTextFault) in
      guard !run.isCancelled else { throw .cancelled }
      // What follows the end of the feed is ignored.
      guard !run.isComplete, run.fault != nil || status != XML_STATUS_OK else {
        return run.grammar.document
      }
      let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
      return try run.grammar.document.before(run.fault ?? run.fault(reason ?? "not XML"))
    }
  }

  /// Returns the text of a page in UTF-8, without a byte order mark.
  private static func utf8(of page: FeedPage) throws(FeedTextFault) -> [UInt8] {
    let text = page.text[...]
    switch Array(text.prefix(3)) {
    case [0xEF, 0xBB, 0xBF]: return Array(text.dropFirst(3))
    case let start where start.starts(with: [0xFE, 0xFF]): return try utf8(text, "utf-16be", 2)
    case let start where start.starts(with: [0xFF, 0xFE]): return try utf8(text, "utf-16le", 2)
    case let start where start.starts(with: [0, 0x3C]): return try utf8(text, "utf-16be")
    case let start where start.starts(with: [0x3C, 0]): return try utf8(text, "utf-16le")
    default:
      // White space before the declaration, which is read from the first element on.
      let start = text.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
      let isText = start.first == UInt8(ascii: "<")
      let name = FeedEncoding.name(of: isText ? start : text, charset: page.charset)
      return try utf8(text, name ?? "utf-8")
    }
  }

  private static func utf8(
    _ text: ArraySlice<UInt8>, _ encoding: String, _ markBytes: Int = 0
  ) throws(FeedTextFault) -> [UInt8] {
    try FeedEncoding.decode(text.dropFirst(markBytes), encoding)
  }

  /// The state of one parse.
  fileprivate final class Run {
    var grammar: FeedGrammar
    private(set) var fault: FeedTextFault?
    private(set) var isCancelled = false

    /// Whether the root element has ended.
    private(set) var isComplete = false
    private let parser: XML_Parser
    private let text: RepairedText
    private let isWanted: () -> Bool
    private var depth = 0

    init(
      _ parser: XML_Parser, _ grammar: FeedGrammar, _ text: RepairedText,
      _ isWanted: @escaping () -> Bool
    ) {
      (self.parser, self.grammar, self.text) = (parser, grammar, text)
      self.isWanted = isWanted
    }

    /// Returns a fault at the current place.
    func fault(_ what: String) -> FeedTextFault {
      let (line, column) = text.place(of: Int(XML_GetCurrentByteIndex(parser)))
      return FeedTextFault(line: line, column: column, what)
    }

    func stop(_ what: String) {
      guard fault == nil else { return }
      fault = fault(what)
      XML_StopParser(parser, XML_Bool(0))
    }

    func begin(_ name: String, _ attributes: [String: String]) {
      depth += 1
      guard isWanted() else {
        isCancelled = true
        return stop(FeedTextFault.cancelled.what)
      }
      guard depth <= maxDepth else { return stop("elements nested more than \(maxDepth) deep") }
      guard depth > 1 || FeedGrammar.roots.contains(name) else {
        return stop("neither RSS nor Atom")
      }
      grammar.begin(name, attributes)
    }

    func end() {
      depth -= 1
      guard fault == nil else { return }
      grammar.end()
      isComplete = depth == 0
    }
  }
}

private func elementBegan(
  _ owner: UnsafeMutableRawPointer?, _ name: UnsafePointer<XML_Char>?,
  _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
) {
  guard let name, var next = attributes else { return }
  var found: [String: String] = [:]
  while let key = next[0], let value = next[1] {
    found[String(cString: key)] = String(cString: value)
    next += 2
  }
  run(owner).begin(String(cString: name), found)
}

private func elementEnded(_ owner: UnsafeMutableRawPointer?, _ name: UnsafePointer<XML_Char>?) {
  run(owner).end()
}

private func textCame(
  _ owner: UnsafeMutableRawPointer?, _ text: UnsafePointer<XML_Char>?, _ count: CInt
) {
  let run = run(owner)
  guard run.grammar.wantsText else { return }
  run.grammar.append(
    UnsafeRawBufferPointer(UnsafeBufferPointer(start: text, count: Int(count))))
}

/// Stops at an entity declaration.
///
/// Feeds do not need them, and they can expand a small text without limit or refer to files.
private func entityIsDeclared(
  _ owner: UnsafeMutableRawPointer?, _ name: UnsafePointer<XML_Char>?, _ isParameter: CInt,
  _ value: UnsafePointer<XML_Char>?, _ count: CInt, _ base: UnsafePointer<XML_Char>?,
  _ system: UnsafePointer<XML_Char>?, _ publicID: UnsafePointer<XML_Char>?,
  _ notation: UnsafePointer<XML_Char>?
) {
  run(owner).stop("it declares entities")
}

/// Stops at an attribute declaration.
///
/// Feeds do not need them, and expat copies a default value into each element without the
/// attribute, so a small text can expand a lot.
private func attributeIsDeclared(
  _ owner: UnsafeMutableRawPointer?, _ element: UnsafePointer<XML_Char>?,
  _ name: UnsafePointer<XML_Char>?, _ type: UnsafePointer<XML_Char>?,
  _ value: UnsafePointer<XML_Char>?, _ isRequired: CInt
) {
  run(owner).stop("it declares attributes")
}

/// Returns the run of a callback.
private func run(_ owner: UnsafeMutableRawPointer?) -> XMLFeed.Run {
  guard let owner else { preconditionFailure("a callback of expat without an owner") }
  return Unmanaged<XMLFeed.Run>.fromOpaque(owner).takeUnretainedValue()
}

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

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
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
      case "link": setLink(attributes)
      case "enclosure": setEnclosure(attributes, address: attributes["url"])
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
      if let line = (text.isHTML ? FeedMarkup.text(of: said) : said).asLine {
        setText(line, of: name)
      }
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

  private mutating func setText(_ line: String, of name: String) {
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

  private mutating func setLink(_ attributes: [String: String]) {
    switch attributes["rel"] {
    case nil, "alternate":
      guard item?.url == nil else { break }
      let url = attributes["href"].flatMap(address)
      item?.url = url
      item?.urlText = attributes["href"]?.asLine
    case "enclosure": setEnclosure(attributes, address: attributes["href"])
    default: break
    }
  }

  private mutating func setEnclosure(_ attributes: [String: String], address: String?) {
    guard let url = address.flatMap(self.address) else { return }
    // The first enclosure identifies the item, and the first of audio or video is its recording.
    if item?.audioText == nil { item?.audioText = address?.asLine }
    let type = attributes["type"]?.asLine
    if let audio = item?.audio, Enclosure.rank(audio.type) >= Enclosure.rank(type) { return }
    item?.audio = Enclosure(
      url: url, type: type,
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
