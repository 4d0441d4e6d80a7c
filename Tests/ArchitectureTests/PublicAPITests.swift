import Testing

/// The public declarations of the libraries, which programs outside this package use.
///
/// `PublicAPI.txt` lists them. A line that is removed or changed breaks programs of others: it needs a
/// line in the changelog.
struct PublicAPITests {
  private static let libraries = ["Binder", "BinderTesting", "BinderClient", "JSON", "Signals"]

  @Test
  func `the public declarations are those of PublicAPI.txt`() throws {
    let listed = Targets.text(inPackage: "Tests/ArchitectureTests/PublicAPI.txt")
      .split(separator: "\n").map(String.init)
    let found = try Self.libraries.flatMap(Self.declarations)
    let (new, gone) = (Set(found).subtracting(listed), Set(listed).subtracting(found))
    #expect(new.isEmpty, "add to Tests/ArchitectureTests/PublicAPI.txt: \(new.sorted())")
    #expect(
      gone.isEmpty, "these break programs of others; tell so in CHANGELOG.md: \(gone.sorted())")
    #expect(listed == listed.sorted() && Set(listed).count == listed.count)
  }

  @Test
  func `public declarations are found with the types around them`() {
    let text = """
      public struct A<B>: C {
        public var d: Int { 0 }
        package func no() {}
        @inlinable
        public mutating func e(
          _ f: Int = 1
        ) throws -> Int where B: C { 0 }
        public enum G {
          case h, i(Int)
        }
      }
      extension A {
        // public func none()
        @discardableResult public func j() -> Self { self }
      }
      public protocol K {
        func l()
        associatedtype M
      }
      """
    #expect(
      PublicDeclarations(of: text).all == [
        "struct A<B>: C", "A: var d: Int",
        "A: mutating func e(_ f: Int = 1) throws -> Int where B: C",
        "A: enum G", "A.G: case h, i(Int)", "A: func j() -> Self", "protocol K", "K: func l()",
        "K: associatedtype M",
      ])
  }

  private static func declarations(of library: String) throws -> [String] {
    try Targets.files(of: library).flatMap { file in
      PublicDeclarations(of: Targets.text(of: "\(library)/\(file)")).all.map { "\(library) \($0)" }
    }
  }
}

/// The public declarations in a text.
private struct PublicDeclarations {
  private(set) var all: [String] = []

  /// The open braces: the name of a type, if it is the body of one, and how members begin that are as
  /// public as the type.
  private var scopes: [(name: String?, members: [String])] = []

  init(of text: String) {
    var pending = ""
    for line in text.split(separator: "\n") {
      var code = line.trimmed
      if code.hasPrefix("//") { continue }
      if pending.isEmpty {
        guard scopes.allSatisfy({ $0.name != nil }) else {
          count(code)
          continue
        }
        code = code.withoutAttributes
        guard isDeclaration(code) else {
          count(code)
          continue
        }
      }
      pending +=
        (pending.isEmpty || pending.hasSuffix("(") || code.hasPrefix(")") ? "" : " ") + code
      guard pending.filter({ $0 == "(" }).count == pending.filter({ $0 == ")" }).count,
        !pending.hasSuffix(","), !pending.hasSuffix("where"), !pending.hasSuffix(" public")
      else { continue }
      add(pending)
      pending = ""
    }
  }

  private func isDeclaration(_ code: String) -> Bool {
    if code.hasPrefix("public ") || code.hasPrefix("extension ") { return true }
    if Self.types.contains(where: { code.hasPrefix($0 + " ") }) { return true }
    return scopes.last?.members.contains { code.hasPrefix($0) } == true
  }

  private static let types = ["struct", "class", "final class", "enum", "protocol", "actor"]
  private static let requirements = [
    "func ", "static ", "mutating ", "var ", "init", "associatedtype ", "subscript",
  ]

  private mutating func add(_ code: String) {
    var head = String(code.prefix { $0 != "{" }).trimmed
    let isMember = scopes.last?.members.contains { head.hasPrefix($0) } == true
    let isPublic = head.hasPrefix("public ") || isMember
    for word in ["public ", "final "] where head.hasPrefix(word) { head.removeFirst(word.count) }
    let path = scopes.compactMap(\.name).joined(separator: ".")
    let isExtension = head.hasPrefix("extension ")
    if isPublic, !isExtension, !head.hasPrefix("import "), !head.hasPrefix("private ") {
      all.append(path.isEmpty ? head : "\(path): \(head)")
    }
    let plain = code.withoutStrings
    let opens = plain.filter { $0 == "{" }.count - plain.filter { $0 == "}" }.count
    guard opens > 0 else { return }
    let words = head.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
    let isType = isExtension || Self.types.contains { head.hasPrefix($0 + " ") }
    let members =
      !isPublic
      ? []
      : head.hasPrefix("protocol ") ? Self.requirements : head.hasPrefix("enum ") ? ["case "] : []
    scopes.append((isType && words.count > 1 ? String(words[1]) : nil, members))
    for _ in 1..<opens { scopes.append((nil, [])) }
  }

  /// Follows the braces of other code.
  private mutating func count(_ code: String) {
    for character in code.withoutStrings {
      if character == "{" { scopes.append((nil, [])) }
      if character == "}" { _ = scopes.popLast() }
    }
  }
}

extension StringProtocol {
  /// The text without spaces around it.
  fileprivate var trimmed: String {
    var text = Substring(self).drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// The code without attributes before a declaration.
  fileprivate var withoutAttributes: String {
    var rest = String(self)
    while rest.hasPrefix("@") {
      guard let end = rest.firstIndex(of: " ") else { return "" }
      rest = rest[end...].trimmed
    }
    if rest.hasPrefix("indirect ") { rest.removeFirst("indirect ".count) }
    return rest
  }

  /// The code without the text of string literals and comments.
  fileprivate var withoutStrings: String {
    var (result, isText) = ("", false)
    for character in self {
      if character == "\"" {
        isText.toggle()
      } else if !isText {
        result.append(character)
      }
    }
    if let comment = result.firstRange(of: "//") { result.removeSubrange(comment.lowerBound...) }
    return result
  }
}
