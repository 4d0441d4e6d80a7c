internal import Glibc
internal import Services

/// Texts in other encodings than UTF-8, of which the XML parser knows few.
enum FeedEncoding {
  /// How the system calls an encoding of the web; `nil` for one that feeds are not written in.
  ///
  /// A server says what it likes: nothing else of that is given to the system.
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

  /// In which encoding a text is, by its server and by itself; `nil` where the parser finds out.
  static func name(of text: ArraySlice<UInt8>, charset: String?) -> String? {
    // What a server says and nobody knows is as if it said nothing.
    var charset = charset.flatMap { isUTF8($0) || systemName($0) != nil ? $0 : nil }
    var declared = declared(in: text)
    // Of ASCII the parser knows what it is.
    if let name = declared, ["us-ascii", "ascii"].contains(name.lowercased()) { declared = nil }
    // Whose declaration is read byte by byte has bytes, whoever says that it has pairs of them.
    if declared?.lowercased().hasPrefix("utf-16") == true { declared = "utf-8" }
    if text.first == UInt8(ascii: "<"), text.dropFirst().first != 0,
      charset?.lowercased().hasPrefix("utf-16") == true
    {
      charset = nil
    }
    guard charset != nil || declared != nil else { return nil }
    // Many servers say the same of all texts; and what is UTF-8 by chance is hardly a text.
    if isUTF8(charset) || isUTF8(declared), String(validating: text, as: UTF8.self) != nil {
      return "utf-8"
    }
    return isUTF8(charset) ? declared ?? charset : charset ?? declared
  }

  /// What the XML declaration says.
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

  /// A text as UTF-8; its own bytes when it is that already.
  ///
  /// - Throws: ``FeedTextFault`` for an encoding that is not known, and for what is none of it.
  static func decode(
    _ text: ArraySlice<UInt8>, _ name: String
  ) throws(FeedTextFault) -> ArraySlice<UInt8> {
    guard !isUTF8(name) else { return text }
    let shown = String((name.asLine ?? "").prefix(40))
    guard let known = systemName(name), let converter = Converter(from: known) else {
      throw FeedTextFault(line: 1, "the encoding '\(shown)' is not known here")
    }
    var decoded: [UInt8] = []
    let count = converter.convert(text, to: &decoded)
    guard count == text.count else {
      let line = 1 + text.prefix(count).count { $0 == UInt8(ascii: "\n") }
      throw FeedTextFault(line: line, "this is not \(shown)")
    }
    return decoded[...]
  }
}

/// The system's converter of texts to UTF-8.
private final class Converter {
  private let handle: iconv_t

  /// `nil` when the system does not know the encoding.
  init?(from name: String) {
    guard let handle = iconv_open("UTF-8", name), handle != iconv_t(bitPattern: -1) else {
      return nil
    }
    self.handle = handle
  }

  deinit { iconv_close(handle) }

  /// - Returns: How many bytes were converted: all, or those before the first that is none.
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
