/// A URL or a relative reference: RFC 3986.
struct WebReference {
  private let text: String
  private var scheme: String?
  private var authority: String?
  private var path: String
  private var query: String?

  init(_ text: String) {
    self.text = text
    var rest = text.utf8[...]
    rest = rest.prefix { $0 != UInt8(ascii: "#") }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = String(Substring(rest[rest.index(after: mark)...]))
      rest = rest[..<mark]
    }
    if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
      scheme = String(Substring(rest[..<colon]))
      rest = rest[rest.index(after: colon)...]
    }
    if rest.starts(with: "//".utf8) {
      let name = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
      authority = String(Substring(name))
      rest = rest[name.endIndex...]
    }
    path = String(Substring(rest))
  }

  private static func isScheme(_ text: Substring.UTF8View) -> Bool {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    guard let first = text.first, letters ~= first | 0x20 else { return false }
    return text.allSatisfy { letters ~= $0 | 0x20 || "0123456789+-.".utf8.contains($0) }
  }

  /// Returns the URL resolved against a base URL; `nil` if the base is not absolute.
  func resolved(against base: WebReference) -> String? {
    guard scheme == nil else { return text }
    guard let scheme = base.scheme, let host = authority ?? base.authority else { return nil }
    let fragment = String(Substring(text.utf8.drop { $0 != UInt8(ascii: "#") }))
    var (path, query) = (path, query)
    if authority == nil {
      if path.isEmpty {
        (path, query) = (base.path, query ?? base.query)
      } else if !path.hasPrefix("/") {
        let folder = base.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { base.path[...$0] }
        path = (folder ?? "/") + path
      }
    }
    let rest = Self.withoutDots(path) + (query.map { "?" + $0 } ?? "") + fragment
    return "\(scheme)://\(host)" + rest
  }

  /// Returns a path without `.` and `..` segments.
  private static func withoutDots(_ path: String) -> String {
    var parts: [Substring] = []
    let all = path.split(separator: "/", omittingEmptySubsequences: false)
    for (i, part) in all.enumerated() {
      switch part {
      case ".", "..":
        if part == "..", parts.count > 1 { parts.removeLast() }
        // A path that ends in one of them is a folder.
        if i == all.count - 1 { parts.append("") }
      default: parts.append(part)
      }
    }
    return parts.joined(separator: "/")
  }
}
