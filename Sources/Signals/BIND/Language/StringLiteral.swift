/// Parses a JSON string.
struct StringLiteral {
  private let scalars: [Unicode.Scalar]
  private let start: Int
  /// The current position; after the closing quote when reading is done.
  private(set) var end: Int

  /// - Parameter start: The position of the opening quote.
  init(_ scalars: [Unicode.Scalar], at start: Int) {
    self.scalars = scalars
    self.start = start
    end = start + 1
  }

  mutating func read() throws(BindFault) -> String {
    var text = String.UnicodeScalarView()
    while end < scalars.count {
      let scalar = scalars[end]
      switch scalar {
      case "\"":
        end += 1
        return String(text)
      case "\\": text.append(try escaped())
      case _ where scalar.value < 0x20:
        throw fault("a control character in a string", at: end, end: end + 1)
      default:
        text.append(scalar)
        end += 1
      }
    }
    throw .syntax(["\""], at: scalars.count + 1, found: "")
  }

  private mutating func escaped() throws(BindFault) -> Unicode.Scalar {
    let escape = end
    end += 1
    guard end < scalars.count else { throw .syntax(["escape"], at: end + 1, found: "") }
    let letter = scalars[end]
    end += 1
    switch letter {
    case "\"", "\\", "/": return letter
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try unicodeScalar(from: escape)
    default: throw fault("an unknown escape", at: escape, end: end)
    }
  }

  /// Reads the scalar of one `\u` escape, or of two that form a surrogate pair.
  private mutating func unicodeScalar(from escape: Int) throws(BindFault) -> Unicode.Scalar {
    let first = try codeUnit(from: escape)
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, end + 1 < scalars.count, scalars[end] == "\\", scalars[end + 1] == "u" {
      end += 2
      let second = try codeUnit(from: escape)
      if (0xDC00...0xDFFF).contains(second),
        let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
      {
        return scalar
      }
    }
    throw fault("half a surrogate pair", at: escape, end: end)
  }

  private mutating func codeUnit(from escape: Int) throws(BindFault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard end < scalars.count else {
        throw .syntax(["hexadecimal digit"], at: end + 1, found: "")
      }
      guard scalars[end].isASCII, let digit = Character(scalars[end]).hexDigitValue else {
        throw fault("no four hexadecimal digits", at: escape, end: end + 1)
      }
      unit = unit << 4 | UInt32(digit)
      end += 1
    }
    return unit
  }

  private func fault(_ sentence: String, at start: Int, end: Int) -> BindFault {
    var found = String.UnicodeScalarView()
    found.append(contentsOf: scalars[start..<end])
    return BindFault(.syntax, sentence, at: start + 1, found: String(found))
  }
}
