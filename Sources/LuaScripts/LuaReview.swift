internal import Features
internal import Wire

/// The mistakes that the text of a service shows without running: events that nothing applies, members
/// that nothing has, and changes of copies of rows.
///
/// It looks at words, and says nothing where a name may mean something else.
struct LuaReview {
  private(set) var doubts: [ScriptDoubt] = []
  private let tokens: [LuaToken]
  private let declaration: ScriptDeclaration

  /// The number of places that declare or assign a name.
  private let declared: [String: Int]

  /// The kinds of the sources in variables of the file.
  private let sources: [String: ScriptDeclaration.Table.Kind]

  init(_ text: String, _ declaration: ScriptDeclaration) {
    tokens = LuaToken.all(in: text)
    self.declaration = declaration
    declared = Self.declared(in: tokens[...])
    sources = Self.sources(in: tokens, of: declaration.tables, declared)
    for i in tokens.indices where tokens[i].kind == .name && !isMember(i) {
      checkRecord(i)
      checkLibrary(i)
      checkSource(i)
      checkPart(i)
      checkFold(i)
      checkMethod(i)
    }
  }

  private mutating func doubt(_ token: LuaToken, _ message: String) {
    doubts.append(ScriptDoubt(line: token.line, column: token.column, message))
  }

  private func token(_ i: Int) -> LuaToken? { tokens.indices ~= i ? tokens[i] : nil }

  private func isSign(_ sign: String, _ i: Int) -> Bool { token(i)?.isSign(sign) == true }

  private func isName(_ name: String, _ i: Int) -> Bool { token(i)?.isName(name) == true }

  /// Whether a name is a member of what stands before it.
  private func isMember(_ i: Int) -> Bool { isSign(".", i - 1) || isSign(":", i - 1) }

  /// Returns the text of the only argument, or of the first one, of a call.
  private func textArgument(_ i: Int) -> LuaToken? {
    if let text = token(i + 1), text.kind == .text { return text }
    guard isSign("(", i + 1), let text = token(i + 2), text.kind == .text,
      isSign(",", i + 3) || isSign(")", i + 3)
    else { return nil }
    return text
  }

  private static func guess(_ name: String, _ names: some Sequence<String>) -> String? {
    nearest(to: name, among: names).map { "; did you mean '\($0)'?" }
  }

  // MARK: Calls

  private mutating func checkRecord(_ i: Int) {
    guard tokens[i].text == "record", declared["record"] == nil, let kind = textArgument(i),
      !kind.text.isEmpty, !kind.text.isKindOfOther
    else { return }
    let own = declaration.on.map(\.name).filter { !$0.isKindOfOther }
    guard !(own + declaration.ignore.map(\.name)).contains(kind.text) else { return }
    doubt(
      kind,
      "there is no 'on.\(kind.text)' for the event"
        + (Self.guess(kind.text, own) ?? "; write one, or 'ignore(\"\(kind.text)\")'"))
  }

  private mutating func checkLibrary(_ i: Int) {
    guard let members = Self.library[tokens[i].text], declared[tokens[i].text] == nil,
      isSign(".", i + 1)
    else { return }
    check(i + 2, of: "'\(tokens[i].text)'", members)
  }

  /// Checks a name among those that are known; without a similar one all are listed.
  ///
  /// - Parameter what: The word before the name.
  private mutating func check(_ i: Int, of owner: String, _ known: [String], as what: String = "") {
    guard let member = token(i), member.kind == .name, !known.contains(member.text) else { return }
    let all = known.isEmpty ? "" : "; it has " + known.joined(separator: ", ")
    doubt(
      member, "\(owner) has no \(what)'\(member.text)'" + (Self.guess(member.text, known) ?? all))
  }

  private mutating func checkSource(_ i: Int) {
    guard let kind = sources[tokens[i].text] else { return }
    let name = tokens[i].text
    switch kind {
    case .rows:
      guard isSign(":", i + 1), let member = token(i + 2) else { return }
      doubt(
        member,
        "'\(name)' is a row set, which has no methods; write \(name)[key], or pairs(\(name))")
    case .value, .list:
      guard isSign(":", i + 1) || isSign(".", i + 1) else { return }
      check(i + 2, of: "'\(name)'", kind == .value ? Self.value : Self.list)
    }
  }

  // MARK: Copies of rows

  /// Checks `rooms[key].guests = 1`, which changes a copy.
  private mutating func checkPart(_ i: Int) {
    guard sources[tokens[i].text] == .rows, let key = endOfIndex(i + 1) else { return }
    var end = key
    while let next = endOfIndex(end) { end = next }
    guard end > key, isSign("=", end) else { return }
    let row = shown(i..<key)
    doubt(
      tokens[i],
      "'\(row)' is a copy of the row, so this changes nothing; write "
        + "'local r = \(row)', change it, then '\(row) = r'")
  }

  /// Checks that a row which a function reads into a variable and changes is used.
  private mutating func checkCopies(_ body: Range<Int>) {
    for i in body where tokens[i].kind == .name && !isMember(i) {
      guard sources[tokens[i].text] == .rows else { continue }
      if isName("local", i - 3), isSign("=", i - 1), let end = endOfIndex(i + 1) {
        let next = token(end)
        guard next?.kind == .name || next == nil || isSign(";", end) else { continue }
        checkCopy(i - 2, of: shown(i..<end), within: end..<body.upperBound)
      } else if isName("pairs", i - 2), isSign("(", i - 1), isSign(")", i + 1),
        isName("in", i - 3), isSign(",", i - 5), isName("do", i + 2)
      {
        let row = "\(tokens[i].text)[\(tokens[i - 6].text)]"
        checkCopy(i - 4, of: row, within: i + 3..<min(endOfBlock(i + 2), body.upperBound))
      }
    }
  }

  private mutating func checkCopy(_ place: Int, of row: String, within scope: Range<Int>) {
    let name = tokens[place].text
    guard !scope.isEmpty, Self.declared(in: tokens[scope])[name] == nil else { return }
    var changed: [LuaToken] = []
    var reads: [Int] = []
    for i in scope where tokens[i].isName(name) && !isMember(i) && !isKey(i) {
      var end = i + 1
      while let next = endOfIndex(end) { end = next }
      // Used as a whole, or by a method.
      if end == i + 1 { return }
      if isSign("=", end) { changed.append(tokens[i]) } else { reads.append(tokens[i].line) }
    }
    guard let first = changed.first else { return }
    // A copy that is changed and then read is a place for a calculation.
    let lines = Set(changed.map(\.line))
    guard !reads.contains(where: { $0 > first.line && !lines.contains($0) }) else { return }
    doubt(
      first, "'\(name)' is a copy of the row; without '\(row) = \(name)' this changes nothing")
  }

  /// Returns the place behind `[…]` or `.name`; `nil` if neither begins here.
  private func endOfIndex(_ i: Int) -> Int? {
    if isSign(".", i), token(i + 1)?.kind == .name { return i + 2 }
    guard isSign("[", i) else { return nil }
    var (depth, end) = (0, i)
    while let token = token(end) {
      if token.isSign("[") { depth += 1 }
      if token.isSign("]") { depth -= 1 }
      end += 1
      if depth == 0 { return end }
    }
    return nil
  }

  /// Returns tokens as a text.
  private func shown(_ range: Range<Int>) -> String {
    range.map { i in tokens[i].kind == .text ? "\"\(tokens[i].text)\"" : tokens[i].text }.joined()
  }

  // MARK: Functions

  /// Checks `on.KIND = function(e, at)`.
  private mutating func checkFold(_ i: Int) {
    guard tokens[i].text == "on", declared["on"] == nil else { return }
    guard let end = endOfIndex(i + 1), isSign("=", end), isName("function", end + 1) else { return }
    let (names, body) = function(end + 1)
    if names.count > 1 { checkMembers(of: names[1], "'at'", Self.place, in: body) }
    checkCopies(body)
  }

  /// Checks `command.NAME = { run = function(p, caller) }`.
  private mutating func checkMethod(_ i: Int) {
    let kind = tokens[i].text
    guard kind == "command" || kind == "query", declared[kind] == nil, isSign(".", i + 1),
      let name = token(i + 2)?.text, isSign("=", i + 3), isSign("{", i + 4)
    else { return }
    let methods = kind == "command" ? declaration.commands : declaration.queries
    guard let method = methods.first(where: { $0.name == name }) else { return }
    var (depth, end) = (0, i + 4)
    while let token = token(end) {
      if token.isSign("{") { depth += 1 }
      if token.isSign("}") { depth -= 1 }
      if depth == 0 { break }
      if depth == 1, token.isName("run"), isSign("=", end + 1), isName("function", end + 2) {
        let (names, body) = function(end + 2)
        if let own = names.first {
          let parameters = method.parameters.map(\.name)
          checkMembers(of: own, "'\(name)'", parameters, in: body, as: "parameter ")
        }
        if names.count > 1 { checkMembers(of: names[1], "'caller'", Self.caller, in: body) }
        checkReasons(of: method, in: body)
        end = body.upperBound
      }
      end += 1
    }
  }

  private mutating func checkReasons(of method: ScriptDeclaration.Method, in body: Range<Int>) {
    guard declared["reject"] == nil else { return }
    let known = method.rejects ?? []
    for i in body where tokens[i].isName("reject") && !isMember(i) {
      guard let word = textArgument(i), !word.text.isEmpty, !known.contains(word.text) else {
        continue
      }
      doubt(
        word,
        "'rejects' of '\(method.name)' lacks \"\(word.text)\""
          + (Self.guess(word.text, known) ?? ""))
    }
  }

  /// Checks the members of a parameter of a function that are read.
  ///
  /// - Parameter what: The word before a name that it lacks.
  private mutating func checkMembers(
    of name: String, _ owner: String, _ known: [String], in body: Range<Int>, as what: String = ""
  ) {
    guard Self.declared(in: tokens[body])[name] == nil else { return }
    let uses = body.filter { tokens[$0].isName(name) && !isMember($0) && isSign(".", $0 + 1) }
    // What a function adds is its own.
    let added = uses.compactMap { isSign("=", $0 + 3) ? token($0 + 2)?.text : nil }
    for i in uses { check(i + 2, of: owner, known + added, as: what) }
  }

  /// Returns the parameters of the function that begins at a place, and the tokens of its body.
  private func function(_ start: Int) -> (parameters: [String], body: Range<Int>) {
    var (names, i) = ([String](), start + 1)
    while let token = token(i), !token.isSign(")") {
      if token.kind == .name { names.append(token.text) }
      i += 1
    }
    let end = min(endOfBlock(start), tokens.count)
    return (names, min(i + 1, end)..<end)
  }

  /// Returns the place of the `end` or `until` of the block that begins at a place.
  private func endOfBlock(_ start: Int) -> Int {
    var (depth, i) = (0, start)
    while let token = token(i) {
      if token.kind == .name {
        switch token.text {
        case "function", "if", "do", "repeat": depth += 1
        case "end", "until": depth -= 1
        default: break
        }
        if depth == 0 { return i }
      }
      i += 1
    }
    return tokens.count
  }

  // MARK: Names

  /// Whether a name is that of a member in a table: `{ name = 1 }`.
  private func isKey(_ i: Int) -> Bool {
    isSign("=", i + 1) && ["{", ",", ";"].contains { isSign($0, i - 1) }
  }

  /// Returns how often each name is declared or assigned.
  static func declared(in tokens: ArraySlice<LuaToken>) -> [String: Int] {
    var found: [String: Int] = [:]
    func name(_ i: Int) -> String? {
      tokens.indices ~= i && tokens[i].kind == .name ? tokens[i].text : nil
    }
    func isSign(_ signs: [String], _ i: Int) -> Bool {
      tokens.indices ~= i && tokens[i].kind == .sign && signs.contains(tokens[i].text)
    }
    /// Counts the names of a list that begins at a place.
    func count(from start: Int) {
      var i = start
      while let each = name(i) {
        found[each, default: 0] += 1
        i += 1
        if isSign(["<"], i) { i += 3 }
        guard isSign([","], i) else { return }
        i += 1
      }
    }
    for i in tokens.indices where tokens[i].kind == .name {
      switch tokens[i].text {
      case "local" where name(i + 1) == "function": count(from: i + 2)
      case "local", "for": count(from: i + 1)
      case "function":
        var open = i + 1
        // The name of a global function, which may be a member.
        if let own = name(open), !isSign([".", ":"], open + 1), name(i - 1) != "local" {
          found[own, default: 0] += 1
        }
        while tokens.indices ~= open, !tokens[open].isSign("(") { open += 1 }
        count(from: open + 1)
      default:
        let isAfterDot = isSign([".", ":"], i - 1)
        let isKey = isSign(["{", ","], i - 1)
        if !isAfterDot, !isKey, name(i - 1) != "local", isSign(["="], i + 1) {
          found[tokens[i].text, default: 0] += 1
        }
      }
    }
    return found
  }

  /// Returns the sources that variables of the file have, and no other variable hides.
  private static func sources(
    in tokens: [LuaToken], of tables: [ScriptDeclaration.Table], _ declared: [String: Int]
  ) -> [String: ScriptDeclaration.Table.Kind] {
    var found: [String: ScriptDeclaration.Table.Kind] = [:]
    for i in tokens.indices.dropLast(5) where tokens[i].isName("local") {
      guard tokens[i + 1].kind == .name, tokens[i + 2].isSign("="), tokens[i + 4].isSign("("),
        let table = tables.first(where: { $0.name == tokens[i + 5].text }),
        table.kind.rawValue == tokens[i + 3].text, declared[tokens[i + 1].text] == 1
      else { continue }
      found[tokens[i + 1].text] = table.kind
    }
    return found
  }

  // MARK: The members that there are

  /// The functions of the library, by table; a test compares them with those of the interpreter.
  static let library = [
    "string": [
      "byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse",
      "sub", "upper",
    ],
    "table": ["concat", "insert", "move", "pack", "remove", "sort", "unpack"],
    "math": [
      "abs", "ceil", "floor", "fmod", "huge", "max", "maxinteger", "min", "mininteger", "pi",
      "random", "sqrt", "tointeger", "type",
    ],
  ]
  static let value = ["get", "set"]
  static let list = ["append", "clear", "count", "get", "insert", "remove", "set"]
  static let place = ["name", "seq", "stream", "time", "user", "version"]
  static let caller = ["process", "user"]
}
