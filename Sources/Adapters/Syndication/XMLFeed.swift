internal import CExpat
internal import Features

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
    let (bytes, linesBefore, isUTF8) = try text(of: page)
    // Expat joins the namespace and the name of an element with this separator.
    let separator = XML_Char(bitPattern: UInt8(ascii: "|"))
    // A known encoding overrides the one that the text declares.
    guard let parser = XML_ParserCreateNS(isUTF8 ? "UTF-8" : nil, separator) else {
      throw FeedTextFault(line: 1, "no memory")
    }
    defer { XML_ParserFree(parser) }
    let run = Run(parser, FeedGrammar(at: page.url), linesBefore, isWanted)
    // Not retained: `run` lives longer than the calls of the parser.
    XML_SetUserData(parser, Unmanaged.passUnretained(run).toOpaque())
    XML_SetElementHandler(parser, elementBegan, elementEnded)
    XML_SetCharacterDataHandler(parser, textCame)
    XML_SetEntityDeclHandler(parser, entityIsDeclared)
    XML_SetAttlistDeclHandler(parser, attributeIsDeclared)
    // Act as if there were an external DTD, which is never read. Then expat reports unknown
    // entities, such as those of HTML, which feeds use without declaring them.
    _ = XML_UseForeignDTD(parser, XML_Bool(1))
    XML_SetSkippedEntityHandler(parser, entityCame)
    let status = bytes.withUnsafeBytes { bytes in
      XML_Parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, CInt(bytes.count), 1)
    }
    return try withExtendedLifetime(run) { () throws(FeedTextFault) in
      if let fault = run.fault { throw fault }
      guard status == XML_STATUS_OK else {
        let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) }
        throw FeedTextFault(line: run.line, reason ?? "not XML")
      }
      return run.grammar.document
    }
  }

  /// Returns the text to parse without leading white space.
  ///
  /// It is UTF-8, or the parser detects the encoding.
  private static func text(
    of page: FeedPage
  ) throws(FeedTextFault) -> (bytes: ArraySlice<UInt8>, linesBefore: Int, isUTF8: Bool) {
    var text = page.text[...]
    // UTF-16, by its byte order mark.
    guard !text.starts(with: [0xFE, 0xFF]), !text.starts(with: [0xFF, 0xFE]) else {
      return (text, 0, false)
    }
    let isMarked = text.starts(with: [0xEF, 0xBB, 0xBF])
    if isMarked { text = text.dropFirst(3) }
    let space = text.prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
    let rest = text[space.endIndex...]
    var linesBefore = 0
    if rest.first == UInt8(ascii: "<") {
      linesBefore = space.count { $0 == UInt8(ascii: "\n") }
      text = rest
    }
    guard !isMarked, let name = FeedEncoding.name(of: text, charset: page.charset) else {
      return (text, linesBefore, isMarked)
    }
    return (try FeedEncoding.decode(text, name), linesBefore, true)
  }

  /// The state of one parse.
  fileprivate final class Run {
    var grammar: FeedGrammar
    private(set) var fault: FeedTextFault?
    private let parser: XML_Parser
    private let linesBefore: Int
    private let isWanted: () -> Bool
    private var depth = 0

    init(
      _ parser: XML_Parser, _ grammar: FeedGrammar, _ linesBefore: Int,
      _ isWanted: @escaping () -> Bool
    ) {
      (self.parser, self.grammar, self.linesBefore) = (parser, grammar, linesBefore)
      self.isWanted = isWanted
    }

    var line: Int { linesBefore + Int(XML_GetCurrentLineNumber(parser)) }

    func stop(_ what: String) {
      guard fault == nil else { return }
      fault = FeedTextFault(line: line, what)
      XML_StopParser(parser, XML_Bool(0))
    }

    func begin(_ name: String, _ attributes: [String: String]) {
      depth += 1
      guard isWanted() else { return stop("parsing was cancelled") }
      guard depth <= maxDepth else { return stop("elements nested more than \(maxDepth) deep") }
      guard depth > 1 || FeedGrammar.roots.contains(name) else {
        return stop("neither RSS nor Atom")
      }
      grammar.begin(name, attributes)
    }

    func end() {
      depth -= 1
      if fault == nil { grammar.end() }
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
  run.grammar.take(
    UnsafeRawBufferPointer(UnsafeBufferPointer(start: text, count: Int(count))))
}

/// Handles undeclared entities: those of HTML are known, any other one is a fault.
private func entityCame(
  _ owner: UnsafeMutableRawPointer?, _ name: UnsafePointer<XML_Char>?, _ isParameter: CInt
) {
  guard isParameter == 0, let name else { return }
  let run = run(owner)
  guard let scalar = FeedEntities.scalar(String(cString: name)) else {
    return run.stop("undefined entity")
  }
  guard run.grammar.wantsText else { return }
  Array(String(Character(scalar)).utf8).withUnsafeBytes { run.grammar.take($0) }
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
