internal import Apps
internal import JSON

/// Parses feeds in JSON: `{"podcasts":[{"id","title"}]}`, and JSON Feed 1.1
/// (<https://www.jsonfeed.org/version/1.1/>).
enum JSONFeed {
  /// - Parameter base: The URL of the feed.
  static func parse(_ bytes: [UInt8], at base: String) throws(FeedTextFault) -> FeedDocument {
    let text = JSONRepair.repair(bytes)
    let value: JSONValue
    do throws(JSONFault) {
      value = try JSONValue(parsing: text.bytes.span)
    } catch {
      let (line, column) = text.place(of: error.offset)
      let fault = FeedTextFault(line: line, column: column, error.reason.rawValue)
      let part = JSONRepair.wholePart(of: text.bytes.prefix(error.offset))
      guard let value = try? JSONValue(parsing: part.span) else { throw fault }
      return try document(value, base).before(fault)
    }
    return try document(value, base)
  }

  private static func document(
    _ value: JSONValue, _ base: String
  ) throws(FeedTextFault) -> FeedDocument {
    guard case .object(let object) = value,
      case .array(let items)? = object["podcasts"] ?? object["items"]
    else { throw FeedTextFault("it has neither podcasts nor items") }
    return FeedDocument(
      title: object.line("title"), link: object.line("home_page_url")?.address(from: base),
      items: items.prefix(FeedText.maxItems).compactMap { item($0, base) })
  }

  private static func item(_ value: JSONValue, _ base: String) -> FeedItem? {
    guard case .object(let object) = value else { return nil }
    let attachments = object.attachments
    let audio = audio(attachments, base)
    let written = object.line("url") ?? object.line("external_url")
    let url = written?.address(from: base)
    let title = object.line("title")
    let about = object.line("summary") ?? object.line("content_text") ?? object.html
    // The address as written identifies the item, wherever its feed is found.
    let address = attachments.first?.line("url") ?? written
    guard let key = object.line("id") ?? address ?? title ?? about else { return nil }
    return FeedItem(
      key: key, title: title ?? about?.asTitle ?? url ?? key, url: url, audio: audio,
      published: object.line("date_published").flatMap(FeedDate.parse))
  }

  /// Returns the first attachment of audio or video, else the first one.
  private static func audio(_ attachments: [JSONObject], _ base: String) -> Enclosure? {
    var best: Enclosure?
    for file in attachments.lazy.compactMap({ enclosure($0, base) })
    where best.map({ Enclosure.rank($0.type) < Enclosure.rank(file.type) }) ?? true {
      best = file
    }
    return best
  }

  private static func enclosure(_ attachment: JSONObject, _ base: String) -> Enclosure? {
    guard let url = attachment.line("url")?.address(from: base) else { return nil }
    var bytes: Int?
    if case .number(let number)? = attachment["size_in_bytes"] {
      bytes = number.int64.flatMap { $0 > 0 ? Int($0) : nil }
    }
    return Enclosure(url: url, type: attachment.line("mime_type"), bytes: bytes)
  }
}

extension JSONObject {
  /// The attachments of an item.
  fileprivate var attachments: [JSONObject] {
    guard case .array(let attachments)? = self["attachments"] else { return [] }
    return attachments.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }

  /// The beginning of the HTML content, as plain text.
  fileprivate var html: String? {
    guard case .string(let html)? = self["content_html"] else { return nil }
    return FeedMarkup.text(of: String(html.prefix(4 * FeedText.maxTextBytes))).asLine
  }

  /// Returns a string or a number as one line; `nil` for other values.
  fileprivate func line(_ name: String) -> String? {
    switch self[name] {
    case .string(let text)?: text.asLine
    case .number(let number)?: number.text.asLine
    default: nil
    }
  }
}
