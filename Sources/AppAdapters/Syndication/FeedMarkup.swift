/// Converts HTML to plain text; Atom titles, for example, can be HTML.
enum FeedMarkup {
  /// Elements that separate words.
  static let breaks: Set = ["br", "p", "div", "li"]

  /// Returns the text of HTML without tags and with decoded entities.
  static func text(of html: String) -> String {
    var text = ""
    var rest = html[...]
    while let mark = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      text.append(contentsOf: rest[..<mark])
      rest = rest[mark...]
      if let tag = tag(rest) {
        if breaks.contains(tag.name) { text.append(" ") }
        rest = rest[tag.end...]
      } else if let entity = entity(rest) {
        text.unicodeScalars.append(entity.scalar)
        rest = rest[entity.end...]
      } else {
        text.append(rest.removeFirst())
      }
    }
    text.append(contentsOf: rest)
    return text
  }

  /// Returns the tag at the start of a text.
  ///
  /// An unclosed tag extends to the end of the text.
  private static func tag(_ text: Substring) -> (name: String, end: Substring.Index)? {
    guard text.first == "<", let second = text.dropFirst().first,
      second.isLetter || "/!?".contains(second)
    else { return nil }
    let end = text.firstIndex(of: ">").map { text.index(after: $0) } ?? text.endIndex
    let name = text.dropFirst().drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
    return (name.lowercased(), end)
  }

  /// Returns the named or numeric entity at the start of a text.
  private static func entity(
    _ text: Substring
  ) -> (scalar: Unicode.Scalar, end: Substring.Index)? {
    guard text.first == "&", let end = text.prefix(10).firstIndex(of: ";") else { return nil }
    let name = String(text[..<end].dropFirst())
    var number: UInt32?
    if name.hasPrefix("#x") || name.hasPrefix("#X") {
      number = UInt32(name.dropFirst(2), radix: 16)
    } else if name.hasPrefix("#") {
      number = UInt32(name.dropFirst())
    }
    guard let scalar = FeedEntities.scalar(name) ?? number.flatMap({ Unicode.Scalar($0) }) else {
      return nil
    }
    return (scalar, text.index(after: end))
  }
}

/// The HTML entities that feeds use, in HTML and in plain text.
enum FeedEntities {
  /// Returns the character of a named entity; `nil` for an unknown name.
  static func scalar(_ name: String) -> Unicode.Scalar? {
    scalars[name] ?? basic[name.lowercased()]
  }

  /// Entities whose names ignore case.
  private static let basic: [String: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": "\u{A0}",
  ]

  private static let scalars: [String: Unicode.Scalar] = {
    var scalars = others
    for (first, names) in [(0xA0, latin), (0x391, greek), (0x3B1, smallGreek)] {
      for (i, name) in names.split(whereSeparator: \.isWhitespace).enumerated() {
        scalars[String(name)] = Unicode.Scalar(UInt32(first + i))
      }
    }
    return scalars
  }()

  /// Consecutive characters from U+00A0.
  private static let latin = """
    nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg
    plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest
    Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute
    Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc
    Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute
    ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide
    oslash ugrave uacute ucirc uuml yacute thorn yuml
    """

  /// Consecutive characters from U+0391; `-` marks an unassigned one.
  private static let greek = """
    Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho -
    Sigma Tau Upsilon Phi Chi Psi Omega
    """

  /// Consecutive characters from U+03B1.
  private static let smallGreek = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho
    sigmaf sigma tau upsilon phi chi psi omega
    """

  private static let others: [String: Unicode.Scalar] = [
    "OElig": "\u{152}", "oelig": "\u{153}", "Scaron": "\u{160}", "scaron": "\u{161}",
    "Yuml": "\u{178}", "fnof": "\u{192}", "circ": "\u{2C6}", "tilde": "\u{2DC}",
    "ensp": "\u{2002}", "emsp": "\u{2003}", "thinsp": "\u{2009}", "ndash": "\u{2013}",
    "mdash": "\u{2014}", "lsquo": "\u{2018}", "rsquo": "\u{2019}", "sbquo": "\u{201A}",
    "ldquo": "\u{201C}", "rdquo": "\u{201D}", "bdquo": "\u{201E}", "dagger": "\u{2020}",
    "Dagger": "\u{2021}", "bull": "\u{2022}", "hellip": "\u{2026}", "permil": "\u{2030}",
    "prime": "\u{2032}", "Prime": "\u{2033}", "lsaquo": "\u{2039}", "rsaquo": "\u{203A}",
    "euro": "\u{20AC}", "trade": "\u{2122}", "larr": "\u{2190}", "uarr": "\u{2191}",
    "rarr": "\u{2192}", "darr": "\u{2193}", "harr": "\u{2194}", "minus": "\u{2212}",
    "infin": "\u{221E}", "asymp": "\u{2248}", "ne": "\u{2260}", "le": "\u{2264}", "ge": "\u{2265}",
    "sum": "\u{2211}", "radic": "\u{221A}", "hearts": "\u{2665}",
  ]
}
