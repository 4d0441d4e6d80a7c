package import Configuration
internal import EventSourcing
internal import JSON

/// One text of a service, read and checked.
package final class Script: Sendable {
  /// The place of a table in the state.
  enum Place: Sendable {
    case rows(Int)
    case single(Int)
  }

  package let name: String

  /// The name of the file, for messages.
  package let file: String
  package let text: String
  package let declaration: ScriptDeclaration

  /// A hash of everything on which the state depends besides the events.
  package let foldHash: String

  /// The kinds of events that change the state, and those that need not.
  let kinds: Set<String>
  let ignored: Set<String>

  /// The reasons why events cannot be undone, by their kinds.
  let obstacles: [String: String]

  /// The kinds that change the state; `nil` if they are many.
  private let fewKinds: [String]?

  /// The folds of events of other services, by the type of the event, in the order of the text.
  let others: [String: [OtherFold]]
  let places: [Place]
  let tables: TableList<ScriptState>
  private let patterns: [SourcePattern]

  /// The most bytes of a key of one segment that can break no rule; 0 for a table whose names may be
  /// those of another one.
  private let plainBytes: [Int]
  private let language: (any ScriptLanguage)?

  /// The most bytes of a text.
  package static let maxBytes = 64 << 10

  /// The script of a state before it has one.
  static let none = Script()

  private init() {
    (name, file, text, foldHash) = ("", "", "", "")
    declaration = .empty
    (kinds, ignored, others, places, patterns, plainBytes) = ([], [], [:], [], [], [])
    tables = TableList([])
    (language, fewKinds, obstacles) = (nil, nil, [:])
  }

  /// Reads a text.
  ///
  /// - Parameter name: The name that it must have; `nil` for any.
  /// - Throws: All faults.
  package init(
    _ text: String, named name: String?, file: String, path: String,
    in language: any ScriptLanguage
  ) throws(ConfigurationFaults) {
    if let mark = ConfigurationFault.byteOrderMark(in: text, of: path) {
      throw ConfigurationFaults([mark])
    }
    let interpreter: any ScriptInterpreter
    do throws(ScriptFailure) {
      interpreter = try language.interpreter(for: text, file: file)
    } catch {
      throw ConfigurationFaults(error.faults(in: path, file, text))
    }
    declaration = interpreter.declaration
    let (own, folds) = (
      declaration.name ?? "", declaration.on.filter(\.isOther).map { OtherFold($0, in: text) }
    )
    let faults =
      Self.faults(of: declaration, named: name)
      + folds.compactMap { fold in
        fold.fault(in: own).map { (fold.line, $0) }
      }
    guard faults.isEmpty else {
      throw ConfigurationFaults(
        faults.map {
          ConfigurationFault(
            file: path, line: $0.line, column: Self.column(ofLine: $0.line, in: text),
            message: $0.message)
        })
    }
    self.name = declaration.name ?? ""
    (self.file, self.text, self.language) = (file, text, language)
    kinds = Set(declaration.on.filter { !$0.isOther }.map(\.name))
    fewKinds = kinds.count <= 8 ? Array(kinds) : nil
    others = Dictionary(grouping: folds, by: \.type)
    // The digest has the folds in the order of their names, which does not matter to one fold of a type.
    let ordered = others.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
    let order = ordered.flatMap(\.value).map { "\n" + $0.key }.joined()
    foldHash = SHA256.hash(interpreter.foldDigest + order)
    ignored = Set(declaration.ignore.map(\.name))
    obstacles = Dictionary(uniqueKeysWithValues: declaration.obstacles.map { ($0.name, $0.reason) })
    var (places, rowCount, singleCount): ([Place], Int, Int) = ([], 0, 0)
    for table in declaration.tables {
      if table.kind == .rows {
        places.append(.rows(rowCount))
        rowCount += 1
      } else {
        places.append(.single(singleCount))
        singleCount += 1
      }
    }
    self.places = places
    let patterns = declaration.tables.map { SourcePattern($0.name) }
    self.patterns = patterns
    plainBytes = patterns.indices.map { i in
      let isShared = patterns.indices.contains {
        $0 != i && patterns[$0].example(with: patterns[i]) != nil
      }
      return isShared ? 0 : max(0, SourceName.maxBytes - patterns[i].text.utf8.count)
    }
    let sources: [TableSource<ScriptState>] = zip(declaration.tables, places).map { table, place in
      switch place {
      case .rows(let i):
        .rows(
          table.name, table.doc, get: { $0.rows[i] },
          access: { state, body in body(&state.rows[i]) })
      case .single(let i):
        .single(
          table.name, table.doc, get: { $0.singles[i] },
          access: { state, body in body(&state.singles[i]) })
      }
    }
    // The first one that matches has a source: `rooms/log` before `rooms/*` before `rooms/**`.
    func isDeep(_ source: TableSource<ScriptState>) -> Bool {
      source.pattern?.text.hasSuffix("**") == true
    }
    tables = TableList(
      sources.filter { !$0.hasKey } + sources.filter { $0.hasKey && !isDeep($0) }
        + sources.filter { $0.hasKey && isDeep($0) })
  }

  /// Returns whether an event of the service changes the state.
  func applies(_ kind: String) -> Bool {
    // To compare a few short texts costs less than the hash of one.
    fewKinds?.contains(kind) ?? kinds.contains(kind)
  }

  var rowCount: Int { places.count { if case .rows = $0 { true } else { false } } }
  var singleCount: Int { places.count - rowCount }

  /// Returns a new interpreter.
  func interpreter() throws(ScriptFailure) -> any ScriptInterpreter {
    guard let language else { throw .fault("there is no script") }
    return try language.interpreter(for: text, file: file)
  }

  /// Returns the names that members of rows can have; see ``ScriptLanguage/rowNames(in:_:)``.
  package func rowNames() -> [String: Set<String>] {
    language?.rowNames(in: text, declaration) ?? [:]
  }

  /// The types of its events, sorted.
  package var eventTypes: [String] { kinds.union(ignored).sorted().map { "\(name).\($0)" } }

  /// Returns whether a key is sure to make the name of a source; others are looked at by
  /// ``fault(ofKey:in:)``.
  func isPlain(_ key: String, in table: Int) -> Bool {
    let bytes = key.utf8.span
    guard !bytes.isEmpty, bytes.count <= plainBytes[table] else { return false }
    for i in bytes.indices {
      switch bytes[i] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: ":"), UInt8(ascii: "-"):
        break
      default: return false
      }
    }
    return true
  }

  /// Returns the rule that the key of a row breaks; `nil` if it makes the name of a source.
  func fault(ofKey key: String, in table: Int) -> String? {
    let pattern = patterns[table]
    if key.utf8.contains(UInt8(ascii: "/")), !pattern.text.hasSuffix("**") {
      return "the key '\(key.prefix(40))' has a '/', and '*' is one segment"
    }
    let name = pattern.name(key)
    if let rule = SourceName.fault(in: name) { return "the key '\(key.prefix(40))': \(rule)" }
    guard let other = tables.table(of: name)?.pattern?.text, other != pattern.text else {
      return nil
    }
    return "the key '\(key.prefix(40))': the source \(name) belongs to '\(other)'"
  }

  // MARK: Checking

  /// The most warnings about a text.
  private static let mostWarnings = 20

  /// Returns the first warnings about what the text shows without running: global names that nothing
  /// has, and what the interpreter doubts.
  package func warnings(path: String) -> [ConfigurationFault] {
    guard let interpreter = try? interpreter() else { return [] }
    let names = interpreter.unknownNames.sorted { ($0.line, $0.name) < ($1.line, $1.name) }
    var seen: Set<String> = []
    let lines = Self.lines(of: text)
    let unknown = names.filter { seen.insert($0.name).inserted }.map { found in
      let line = lines.indices ~= found.line - 1 ? lines[found.line - 1] : ""
      let place = line.firstRange(of: found.name)?.lowerBound ?? line.startIndex
      return ScriptDoubt(
        line: found.line, column: line.distance(from: line.startIndex, to: place) + 1,
        "nothing is called '\(found.name)' outside of functions; it is nil")
    }
    let all = (unknown + interpreter.doubts(in: text)).sorted {
      ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message)
    }
    return all.prefix(Self.mostWarnings).map {
      ConfigurationFault(file: path, line: $0.line, column: $0.column, message: $0.message)
    }
  }

  private static func faults(
    of declaration: ScriptDeclaration, named name: String?
  ) -> [(line: Int, message: String)] {
    guard let service = declaration.name else {
      return [(1, "the file does not begin with service(\"NAME\", \"A line about it.\")")]
    }
    var faults: [(Int, String)] = []
    if let name, name != service {
      faults.append(
        (
          declaration.line ?? 1,
          "the service is called '\(service)', but the file '\(name).service'"
        ))
    }
    for table in declaration.tables {
      let pattern = SourcePattern(table.name)
      if let rule = pattern.fault(of: service, hasKey: table.kind == .rows) {
        faults.append((table.line, "'\(table.name)': \(rule)"))
      }
    }
    return faults
  }

  /// The lines of a text, also of one with CRLF, which is one character.
  static func lines(of text: String) -> [Substring] {
    text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Substring.init)
  }

  /// Returns where the text of a line begins.
  static func column(ofLine line: Int, in text: String) -> Int {
    let lines = Self.lines(of: text)
    guard lines.indices ~= line - 1 else { return 1 }
    return lines[line - 1].prefix { $0 == " " || $0 == "\t" }.count + 1
  }
}

extension ScriptFailure {
  /// Returns the faults with their places, in the order of the text; see ``fault(in:_:_:)``.
  package func faults(in path: String, _ name: String, _ text: String) -> [ConfigurationFault] {
    guard case .fault(let all) = self else { return [fault(in: path, name, text)] }
    let messages = all.split(separator: Self.separator)
    guard !messages.isEmpty else {
      return [ConfigurationFault(file: path, message: "the text fails without a message")]
    }
    return messages.map { ScriptFailure.fault(String($0)).fault(in: path, name, text) }
      .sorted { $0.line < $1.line }
  }

  /// Returns the fault with its place.
  ///
  /// - Parameters:
  ///   - path: The path of the file, for the fault.
  ///   - name: The name by which the message begins.
  package func fault(in path: String, _ name: String, _ text: String) -> ConfigurationFault {
    let message = description
    guard message.hasPrefix(name + ":") else {
      return ConfigurationFault(file: path, message: description)
    }
    let rest = message.dropFirst(name.count + 1)
    guard let colon = rest.firstIndex(of: ":"), let line = Int(rest[..<colon]) else {
      return ConfigurationFault(file: path, message: description)
    }
    let words = rest[rest.index(after: colon)...].drop { $0 == " " }
    return ConfigurationFault(
      file: path, line: line, column: Self.column(ofLine: line, in: text, words),
      message: String(words))
  }

  /// Returns where the word is that Lua names at the end of a message, or where the line begins.
  private static func column(ofLine line: Int, in text: String, _ message: Substring) -> Int {
    let start = Script.column(ofLine: line, in: text)
    let lines = Script.lines(of: text)
    guard lines.indices ~= line - 1, let near = message.firstRange(of: " near '")?.upperBound,
      let end = message[near...].lastIndex(of: "'"), near < end
    else { return start }
    // Lua reads up to the word, so it is the last one of its kind that can be meant.
    let word = message[near..<end]
    guard let found = lines[line - 1].ranges(of: word).last else { return start }
    return lines[line - 1].distance(from: lines[line - 1].startIndex, to: found.lowerBound) + 1
  }
}
