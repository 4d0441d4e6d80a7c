import Testing

/// The largest number of files of a target that may refer to each other in a circle.
private let largestKnot = 8

/// A knot is a set of files that all need each other, directly or not.
///
/// A file needs another one if it names a type or function that the other declares. To understand
/// one file of a knot, one has to read them all.
struct KnotTests {
  @Test(arguments: Targets.names)
  func `no large knot of files`(layer: String) throws {
    let knots = try FileGraph(of: layer).knots
    for knot in knots where knot.count > largestKnot {
      Issue.record("\(layer): \(knot.count) files need each other: \(knot.sorted())")
    }
  }

  @Test
  func `a circle of files is found`() {
    let graph = FileGraph([
      "A.swift": "struct A { let b: B }", "B.swift": "struct B { func c() -> C? { nil } }",
      "C.swift": "enum C { static let a = \"D\" // D\n }\nextension A {}",
      "D.swift": "final class D { let a: A }",
    ])
    #expect(graph.knots == [["A.swift", "B.swift", "C.swift"]])
  }
}

/// The files of a target, and which of them refers to which.
private struct FileGraph {
  private let references: [String: Set<String>]

  init(of layer: String) throws {
    var texts: [String: String] = [:]
    for name in try Targets.files(of: layer) {
      texts[name] = Targets.text(of: "\(layer)/\(name)")
    }
    self.init(texts)
  }

  init(_ texts: [String: String]) {
    let codes = texts.mapValues(Self.code)
    var owners: [Substring: Set<String>] = [:]
    for (file, code) in codes {
      for line in code.split(separator: "\n") where line.first?.isWhitespace == false {
        if let name = Self.declaredName(in: line) { owners[name, default: []].insert(file) }
      }
    }
    var references: [String: Set<String>] = [:]
    for (file, code) in codes {
      let words = Set(code.split { !($0.isLetter || $0.isNumber || $0 == "_") })
      let owning = words.compactMap { owners[$0] }.filter { $0.count == 1 }.flatMap(\.self)
      references[file] = Set(owning).subtracting([file])
    }
    self.references = references
  }

  /// The text without comments and string literals.
  private static func code(_ text: String) -> String {
    var (code, inText) = ("", false)
    for line in text.split(separator: "\n") {
      if line.contains("\"\"\"") {
        inText.toggle()
        continue
      }
      if inText { continue }
      let withoutStrings = line.replacing(/"(\\.|[^"\\])*"/, with: "\"\"")
      code +=
        withoutStrings.firstRange(of: "//").map { withoutStrings[..<$0.lowerBound] }
        ?? withoutStrings[...]
      code += "\n"
    }
    return code
  }

  /// Returns the name that a line at the top level declares; `nil` if it declares none.
  private static func declaredName(in line: Substring) -> Substring? {
    let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "@") }
    let kinds: Set<Substring> = [
      "class", "struct", "enum", "protocol", "typealias", "func", "let", "var",
    ]
    let modifiers: Set<Substring> = ["package", "public", "final", "indirect", "internal", "open"]
    guard
      let kind = words.firstIndex(where: { !modifiers.contains($0) && $0.first != "@" }),
      kinds.contains(words[kind]), kind + 1 < words.count
    else { return nil }
    return words[kind + 1]
  }

  /// The sets of more than one file that can all reach each other, sorted.
  var knots: [[String]] {
    var reached: [String: Set<String>] = [:]
    for file in references.keys {
      var (seen, open) = (Set<String>(), [file])
      while let next = open.popLast() {
        for other in references[next] ?? [] where seen.insert(other).inserted { open.append(other) }
      }
      reached[file] = seen
    }
    var knots: Set<[String]> = []
    for (file, seen) in reached where seen.contains(file) {
      knots.insert(seen.filter { reached[$0]?.contains(file) == true }.sorted())
    }
    return knots.sorted { $0.count > $1.count }
  }
}
