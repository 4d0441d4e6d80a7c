internal import JSON
package import Signals

/// Search by a web address that returns JSON, such as the iTunes Search API of Apple.
///
/// https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/iTuneSearchAPI/
///
/// Shows the objects in `results` of a response. The title is `trackName`, `collectionName`,
/// `title` or `name`; the text is `artistName`, `description` or `text`. The address is
/// `trackViewUrl`, `collectionViewUrl`, `artistViewUrl` or `url`. Texts are reduced to one line,
/// and addresses must be HTTP or HTTPS.
package final class WebSearch: SearchBackend {
  /// The maximum size of a response in bytes; longer responses are rejected.
  private static let maxBytes = 1 << 20

  package let name = "web"

  /// The address; `{term}` stands for the term and `{limit}` for the maximum number of results.
  package var address: String
  private let web: any WebClient

  package init(_ address: String, by web: any WebClient) {
    (self.address, self.web) = (address, web)
  }

  package var doc: String { "The web, by \(address)." }

  package func find(_ term: String, limit: Int) -> Signal<[SearchHit], SearchError> {
    let url = address.replacing("{term}", with: Self.encoded(term))
      .replacing("{limit}", with: "\(limit)")
    return Signal { [web] observer in
      web.get(WebRequest(url)).observe { event in
        switch event {
        case .next(let response):
          if let hits = Self.hits(in: response.body) {
            observer.receive(lastElement: Array(hits.prefix(limit)))
          } else {
            observer.fail(.failed("the answer cannot be parsed"))
          }
        case .failed(let error): observer.fail(.failed("\(error)"))
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Parses a response; returns `nil` if it is malformed.
  private static func hits(in body: [UInt8]) -> [SearchHit]? {
    guard body.count <= maxBytes, case .object(let answer)? = try? JSONValue(parsing: body.span),
      case .array(let results)? = answer["results"]
    else { return nil }
    var hits: [SearchHit] = []
    var ids: Set<String> = []
    for (i, value) in results.enumerated() {
      guard case .object(let result) = value else { continue }
      func text(_ names: String...) -> String? {
        names.lazy.compactMap { result[$0]?.shownText }.first
      }
      var id = text("trackId", "collectionId", "artistId", "id") ?? "\(i)"
      // Ids must be unique, so that each result can be selected.
      while !ids.insert(id).inserted { id += ".\(i)" }
      func address(_ names: [String]) -> String? {
        names.lazy.compactMap { result[$0]?.shownText?.asWebAddress }.first
      }
      let addresses = ["trackViewUrl", "collectionViewUrl", "artistViewUrl", "url"]
      let images = ["artworkUrl100", "artworkUrl60", "artworkUrl30", "image"]
      hits.append(
        SearchHit(
          id: id, title: text("trackName", "collectionName", "title", "name", "artistName") ?? "",
          text: text("artistName", "description", "text") ?? "",
          url: address(addresses), image: address(images)))
    }
    return hits
  }

  /// Percent-encodes a term (RFC 3986).
  private static func encoded(_ term: String) -> String {
    term.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      if scalar.isASCII,
        scalar.properties.isAlphabetic || "0123456789-._~".unicodeScalars.contains(scalar)
      {
        return String(scalar)
      }
      return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    .joined()
  }
}

extension JSONValue {
  /// The string as one line, or the text of a number; `nil` if there is nothing to show.
  fileprivate var shownText: String? {
    switch self {
    case .string(let text): text.asOneLine
    case .number: text.text
    default: nil
    }
  }
}
