import Console

/// The parts of the text that a program such as binderd prints with `--help`.
struct ProgramHelp {
  /// The words after the program name, for each form of the command line.
  private(set) var usage: [String] = []
  private(set) var options: [Option] = []
  private(set) var exits: [(code: String, meaning: String)] = []

  /// Runs the program at a path.
  ///
  /// - Throws: ``Failure`` if it does not list its options.
  init(of path: String, named name: String) throws {
    let (code, text) = try Child.output(of: [path, "--help"])
    self.init(text, name)
    guard code == 0, !options.isEmpty else {
      throw Failure("'\(path) --help' does not list its options", .bug)
    }
  }

  private init(_ text: String, _ name: String) {
    var paragraph = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(separator: " ")
      if line.hasPrefix("usage: ") || line.hasPrefix("       \(name) ") {
        let after = words.drop { $0 != name }.dropFirst()
        usage.append(after.joined(separator: " "))
      } else if line.hasPrefix("  --") {
        add(option: line)
      } else if line.hasPrefix("exit:") || !paragraph.isEmpty {
        paragraph += line + " "
      } else if !words.isEmpty, options.isEmpty {
        usage[usage.count - 1] += " " + words.joined(separator: " ")
      } else if !words.isEmpty, let last = options.popLast() {
        // A line such as `os: the kernel decides` begins another choice.
        let isChoice = words[0].hasSuffix(":") && !last.doc.hasSuffix(";")
        let rest = words.joined(separator: " ")
        options.append(
          Option(
            last.name, value: last.value,
            last.doc + (last.doc.isEmpty ? "" : isChoice ? "; " : " ") + rest))
      }
    }
    let all = paragraph.split(separator: " ").dropFirst().joined(separator: " ")
    exits = all.split(separator: "·").map { part in
      let words = part.split(separator: " ")
      return (String(words.first ?? ""), words.dropFirst().joined(separator: " "))
    }
  }

  /// Adds `  --name VALUE   description`.
  private mutating func add(option line: Substring) {
    // Two spaces are the indentation, and more than one space ends the term.
    let line = line.dropFirst(2)
    let end = line.firstRange(of: "  ")?.lowerBound ?? line.endIndex
    let term = line[..<end].split(separator: " ")
    let value = term.dropFirst().joined(separator: " ")
    options.append(
      Option(
        String((term.first ?? "").dropFirst(2)), value: value.isEmpty ? nil : value,
        line[end...].split(separator: " ").joined(separator: " ")))
  }
}
