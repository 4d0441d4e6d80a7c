internal import Features
internal import JSON

/// Parses feeds in JSON: `{"podcasts":[{"id","title"}]}`, and JSON Feed 1.1
/// (<https://www.jsonfeed.org/version/1.1/>).
enum JSONFeed {
  /// - Parameter base: The URL of the feed.
  static func parse(_ bytes: [UInt8], at base: String) throws(FeedTextFault) -> FeedDocument {
    let value: JSONValue
    do throws(JSONFault) {
      value = try JSONValue(parsing: bytes.span)
    } catch {
      let line = 1 + bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") }
      throw FeedTextFault(line: line, error.reason.rawValue)
    }
    guard case .object(let object) = value,
      case .array(let items)? = object["podcasts"] ?? object["items"]
    else { throw FeedTextFault(line: 1, "it has neither podcasts nor items") }
    return FeedDocument(
      title: object.line("title"), link: object.line("home_page_url")?.address(from: base),
      items: items.prefix(FeedText.maxItems).compactMap { item($0, base) })
  }

  private static func item(_ value: JSONValue, _ base: String) -> FeedItem? {
    guard case .object(let object) = value else { return nil }
    let audio = object.attachment.flatMap { Self.audio($0, base) }
    let written = object.line("url") ?? object.line("external_url")
    let url = written?.address(from: base)
    let title = object.line("title")
    let about = object.line("summary") ?? object.line("content_text") ?? object.html
    // The address as written identifies the item, wherever its feed is found.
    let address = object.attachment?.line("url") ?? written
    guard let key = object.line("id") ?? address ?? title ?? about else { return nil }
    return FeedItem(
      key: key, title: title ?? about?.asTitle ?? url ?? key, url: url, audio: audio,
      published: object.line("date_published").flatMap(FeedDate.parse))
  }

  private static func audio(_ first: JSONObject, _ base: String) -> Enclosure? {
    guard let url = first.line("url")?.address(from: base) else { return nil }
    var bytes: Int?
    if case .number(let number)? = first["size_in_bytes"] {
      bytes = number.int64.flatMap { $0 > 0 ? Int($0) : nil }
    }
    return Enclosure(url: url, type: first.line("mime_type"), bytes: bytes)
  }
}

extension JSONObject {
  /// The first attachment of an item.
  fileprivate var attachment: JSONObject? {
    guard case .array(let attachments)? = self["attachments"],
      case .object(let first)? = attachments.first
    else { return nil }
    return first
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
