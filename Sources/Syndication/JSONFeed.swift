internal import JSON
internal import Services

/// Feeds in JSON: `{"podcasts":[{"id","title"}]}`, and JSON Feed 1.1
/// (<https://www.jsonfeed.org/version/1.1/>).
enum JSONFeed {
  static func parse(_ bytes: [UInt8]) throws(FeedTextFault) -> FeedDocument {
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
      title: object.line("title"), link: object.line("home_page_url")?.asAddress,
      items: items.prefix(FeedText.maxItems).compactMap(item))
  }

  private static func item(_ value: JSONValue) -> FeedItem? {
    guard case .object(let object) = value else { return nil }
    let (url, audio) = (object.line("url")?.asAddress, audio(object["attachments"]))
    let title = object.line("title")
    guard let key = object.line("id") ?? audio?.url ?? url ?? title else { return nil }
    return FeedItem(
      key: key, title: title ?? url ?? key, url: url, audio: audio,
      published: object.line("date_published").flatMap(FeedDate.parse))
  }

  private static func audio(_ attachments: JSONValue?) -> Enclosure? {
    guard case .array(let attachments)? = attachments, case .object(let first)? = attachments.first,
      let url = first.line("url")?.asAddress
    else { return nil }
    var bytes: Int?
    if case .number(let number)? = first["size_in_bytes"] {
      bytes = number.int64.flatMap { $0 > 0 ? Int($0) : nil }
    }
    return Enclosure(url: url, type: first.line("mime_type"), bytes: bytes)
  }
}

extension JSONObject {
  /// A text or a number as one line.
  fileprivate func line(_ name: String) -> String? {
    switch self[name] {
    case .string(let text)?: text.asLine
    case .number(let number)?: number.text.asLine
    default: nil
    }
  }
}
