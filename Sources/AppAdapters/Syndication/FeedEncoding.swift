internal import Apps
internal import Glibc

/// Converts texts in encodings other than UTF-8.
///
/// The XML parser supports few of them.
enum FeedEncoding {
  /// Returns the system's name of a web encoding; `nil` for an encoding that feeds do not use.
  ///
  /// A server can send any name, so only known names are passed to the system.
  private static func systemName(_ name: String) -> String? {
    let name = name.lowercased()
    for family in ["iso-8859-", "windows-125", "cp125"] where name.hasPrefix(family) {
      guard let number = Int(name.dropFirst(family.count)), 0...16 ~= number else { return nil }
      return (family == "cp125" ? "windows-125" : family) + "\(number)"
    }
    return switch name {
    case "latin1", "latin-1", "iso8859-1": "iso-8859-1"
    case "shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j": "cp932"
    case "gb2312", "gbk", "gb18030": "gb18030"
    case "euc-kr", "ks_c_5601-1987": "cp949"
    case "big5", "big5-hkscs", "euc-jp", "iso-2022-jp", "koi8-r", "koi8-u", "windows-874", "ibm866",
      "macintosh", "utf-16", "utf-16le", "utf-16be":
      name
    default: nil
    }
  }

  private static func isUTF8(_ name: String?) -> Bool {
    name.map { ["utf-8", "utf8"].contains($0.lowercased()) } ?? false
  }

  /// Returns the encoding of a text, from the server's charset and the text itself; `nil` to let
  /// the parser detect it.
  static func name(of text: ArraySlice<UInt8>, charset: String?) -> String? {
    // Ignore an unknown charset from the server.
    var charset = charset.flatMap { isUTF8($0) || systemName($0) != nil ? $0 : nil }
    var declared = declared(in: text)
    // The parser supports ASCII itself.
    if let name = declared, ["us-ascii", "ascii"].contains(name.lowercased()) { declared = nil }
    // A declaration that can be read byte by byte is not in UTF-16, whatever it says.
    if declared?.lowercased().hasPrefix("utf-16") == true { declared = "utf-8" }
    if text.first == UInt8(ascii: "<"), text.dropFirst().first != 0,
      charset?.lowercased().hasPrefix("utf-16") == true
    {
      charset = nil
    }
    guard charset != nil || declared != nil else { return nil }
    // Many servers send the same charset for all texts, and a text in another encoding is hardly
    // ever valid UTF-8.
    if isUTF8(charset) || isUTF8(declared), String(validating: text, as: UTF8.self) != nil {
      return "utf-8"
    }
    return isUTF8(charset) ? declared ?? charset : charset ?? declared
  }

  /// Returns the encoding in the XML declaration; `nil` if there is none.
  private static func declared(in text: ArraySlice<UInt8>) -> String? {
    guard text.starts(with: "<?xml".utf8) else { return nil }
    let head = text.prefix(256).prefix { $0 != UInt8(ascii: ">") }
    let words = String(decoding: head, as: UTF8.self).split { $0 == "\"" || $0 == "'" }
    guard
      let i = words.firstIndex(where: { word in
        let name = word.filter { $0 > " " }
        return name.hasSuffix("encoding=")
      }), i + 1 < words.count
    else { return nil }
    return String(words[i + 1])
  }

  /// Converts a text to UTF-8.
  ///
  /// Returns the same bytes if it is UTF-8 already.
  ///
  /// Bytes that are invalid in the encoding become U+FFFD.
  ///
  /// - Throws: ``FeedTextFault`` for an unknown encoding.
  static func decode(
    _ text: ArraySlice<UInt8>, _ name: String
  ) throws(FeedTextFault) -> [UInt8] {
    guard !isUTF8(name) else { return Array(text) }
    let shown = String((name.asLine ?? "").prefix(40))
    guard let known = systemName(name), let converter = Converter(from: known) else {
      throw FeedTextFault("unknown encoding '\(shown)'")
    }
    let unitBytes = known.hasPrefix("utf-16") ? 2 : 1
    var decoded: [UInt8] = []
    var rest = text
    while true {
      rest = rest.dropFirst(converter.convert(rest, to: &decoded))
      guard !rest.isEmpty else { return decoded }
      decoded += replacementCharacter
      rest = rest.dropFirst(unitBytes)
    }
  }
}

/// A converter of texts to UTF-8, by iconv(3).
private final class Converter {
  private let handle: iconv_t

  /// Opens a converter; `nil` if the system does not know the encoding.
  init?(from name: String) {
    guard let handle = iconv_open("UTF-8", name), handle != iconv_t(bitPattern: -1) else {
      return nil
    }
    self.handle = handle
  }

  deinit { iconv_close(handle) }

  /// - Returns: The number of converted bytes: all, or those before the first invalid one.
  func convert(_ text: ArraySlice<UInt8>, to decoded: inout [UInt8]) -> Int {
    var source = text.map { CChar(bitPattern: $0) }
    var part = [CChar](repeating: 0, count: 1 << 16)
    decoded.reserveCapacity(source.count)
    return source.withUnsafeMutableBufferPointer { source in
      var (input, left) = (source.baseAddress, source.count)
      var isStuck = false
      while left > 0, !isStuck {
        part.withUnsafeMutableBufferPointer { part in
          var (output, room) = (part.baseAddress, part.count)
          let result = iconv(handle, &input, &left, &output, &room)
          isStuck = result == -1 && errno != E2BIG
          decoded += part.prefix(part.count - room).map { UInt8(bitPattern: $0) }
        }
      }
      return source.count - left
    }
  }
}
