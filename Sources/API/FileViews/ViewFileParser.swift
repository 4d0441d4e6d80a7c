internal import Configuration
internal import JSON
internal import Signals
internal import Wire

/// Parses a view file; see ``ViewFile/read(_:)``.
struct ViewFileParser {
  private(set) var file = ViewFile()
  private(set) var faults: [ViewFault] = []

  /// Whether a line that may name a property was not understood.
  private(set) var hasUnreadLines = false

  /// The line of each property, and that of each intent.
  private var properties: [String: Int] = [:]
  private var assigned: [String: Int] = [:]
  private var intents: [String: Int] = [:]
  private var hasHead = false

  /// Whether the present line cannot name a property that other lines refer to, except one that is
  /// known.
  private var isNamed = false

  /// Whether the lines below the last binding may name members of its rows.
  private var isBelowBinding = false

  init(_ text: String) {
    file.text = text
    var parts: [(number: Int, text: [Unicode.Scalar])] = []
    // Lines beyond all limits are not looked at: each may be compared with all others.
    let most = ViewFile.Limit.lines
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (i, line) in lines.enumerated() {
      var scalars = Array(line).withoutComment
      if let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }),
        scalars[last] == "\\", i + 1 < lines.count
      {
        scalars.removeSubrange(last...)
        scalars.append(" ")
        parts.append((i + 1, scalars))
        continue
      }
      read(ViewLine(parts + [(i + 1, scalars)]))
      parts = []
      guard file.lines.count <= most, faults.count < ViewFile.Limit.faults else { break }
    }
    if !hasHead, faults.isEmpty {
      faults.append(ViewFault(.init(line: 1, column: 1), Self.headRule))
    }
    checkCounts()
  }

  private static let headRule = #"a file begins with: view "what it shows""#

  private mutating func read(_ line: ViewLine) {
    var line = line
    guard !line.isEmpty else { return }
    let isMember = line.isIndented && hasHead
    isNamed = isMember
    do throws(ViewFault) {
      if !hasHead {
        hasHead = true
        try readHead(&line)
      } else if isMember {
        try readMember(&line)
      } else {
        isBelowBinding = false
        try readLine(&line)
      }
      guard line.isAtEnd else { throw line.expects("the end of the line") }
    } catch {
      faults.append(error)
      if !isNamed { hasUnreadLines = true }
    }
  }

  private mutating func readHead(_ line: inout ViewLine) throws(ViewFault) {
    let start = line.here
    guard line.has("view"), try line.word("view").text == "view" else {
      throw ViewFault(start, Self.headRule)
    }
    file.doc = try line.quoted("a text in quotes").text
    guard line.read("(") else { return }
    repeat {
      let name = try line.name("the name of an argument")
      guard line.read(":") else { throw line.expects("':' and a type") }
      if name.text == "me" {
        throw ViewFault(name.place, "'me' is the user; it needs no declaration")
      }
      if file.parameters.contains(where: { $0.name.text == name.text }) {
        throw ViewFault(name.place, "there is an argument '\(name.text)' already")
      }
      file.parameters.append(.init(name: name, form: try form(&line)))
      guard file.parameters.count <= ViewFile.Limit.arguments else {
        throw ViewFault(name.place, "at most \(ViewFile.Limit.arguments) arguments")
      }
    } while line.read(",")
    guard line.read(")") else { throw line.expects("')'") }
  }

  // MARK: Lines

  private mutating func readLine(_ line: inout ViewLine) throws(ViewFault) {
    let start = line.i
    if let name = line.nameIfAny() {
      if line.read("->") { return try readIntent(name, .call, &line) }
      if line.read("=>") { return try readIntent(name, .open("push"), &line) }
      if line.read("=") { return try assign(name, &line) }
      if name.text == "tab", line.peek == "\"" {
        let title = try line.quoted("the name of the tab")
        guard line.read("=>") else { throw line.expects("'=>'") }
        return try readIntent(title, .tab, &line)
      }
    }
    line.go(to: start)
    try readBinding(&line)
  }

  private mutating func assign(
    _ name: ViewFile.Name, _ line: inout ViewLine
  ) throws(ViewFault) {
    isNamed = true
    if let other = assigned[name.text] {
      throw ViewFault(name.place, "'\(name.text)' is already assigned in line \(other)")
    }
    if let other = properties[name.text] {
      throw ViewFault(
        name.place, "'\(name.text)' is bound in line \(other); assign it in a line before that one")
    }
    assigned[name.text] = name.place.line
    isNamed = false
    let value = try value(&line)
    switch value {
    case .json, .argument: break
    case .row, .property, .asked:
      throw ViewFault(name.place, "'\(name.text)' takes JSON or {argument}")
    }
    let (shown, rows) = try tail(&line)
    if rows.isUsed {
      throw ViewFault(name.place, "'where', 'by' and 'limit' need a list from a source")
    }
    file.lines.append(.assign(.init(name: name, value: value, shown: shown)))
  }

  private mutating func readBinding(_ line: inout ViewLine) throws(ViewFault) {
    let start = line.i
    guard let arrow = line.arrow() else {
      if let open = line.openParenthesis(from: start) {
        throw ViewFault(open, "this '(' has no ')'")
      }
      let word = line.shownWord(at: start)
      throw ViewFault(
        line.here, "expected an arrow behind '\(word)': ~> shows, -> calls, => opens, = assigns")
    }
    if arrow > start, line.text(arrow - 1..<arrow + 1) == "->" {
      throw ViewFault(
        line.place(arrow - 1),
        "'->' calls a method and stands behind the name of an intent; a source is shown with '~>'")
    }
    line.go(to: line.endOfArrow(from: arrow))
    line.skipSpace()
    let name = try line.name("the name of a property")
    try line.skipTransformers()
    let expression: BindExpression
    do throws(BindFault) {
      expression = try BindExpression(line.text(start..<line.i), within: .sources)
    } catch {
      throw ViewFault(line.place(column: error.column, from: start), error.message)
    }
    let places = expression.leftPaths.map {
      ViewFile.Name(text: $0.text, place: line.place(column: $0.column, from: start))
    }
    guard !places.isEmpty else {
      throw ViewFault(line.place(start), "'every' has no value to show")
    }
    let (shown, rows) = try tail(&line)
    isNamed = true
    if let other = properties[name.text] {
      throw ViewFault(name.place, "'\(name.text)' is already bound in line \(other)")
    }
    properties[name.text] = name.place.line
    file.lines.append(
      .bind(
        .init(
          expression: expression, sources: places, name: name, place: line.place(start),
          shown: shown, filter: rows.filter, order: rows.order, limit: rows.limit)))
    isBelowBinding = true
  }

  private mutating func readMember(_ line: inout ViewLine) throws(ViewFault) {
    let start = line.here
    guard isBelowBinding, case .bind(var binding)? = file.lines.last else {
      line.go(to: line.word(at: line.i).upperBound)
      throw ViewFault(start, "a member of rows needs a list in the line above")
    }
    let path = try line.word("a path in the rows")
    let text = line.i
    try line.skipTransformers()
    let calls: [TransformerCall]
    do throws(BindFault) {
      // The same parser reads transformers as in a binding.
      calls = try BindExpression("x \(line.text(text..<line.i)) ~> x", within: .sources)
        .transformers
    } catch {
      throw ViewFault(line.place(column: error.column - 2, from: text), error.message)
    }
    let written = line.text(text..<line.i)
    var name = path
    if line.read("~>") {
      name = try line.name("the name of a member")
    } else if !path.text.isViewName {
      throw line.expects("'~>' and a name, because '\(path.text)' is a path")
    }
    let (shown, rows) = try tail(&line)
    if rows.isUsed {
      throw ViewFault(name.place, "'where', 'by' and 'limit' belong to the line of the list")
    }
    if name.text == "id" {
      throw ViewFault(name.place, "'id' names the row; choose another name")
    }
    if binding.members.contains(where: { $0.name.text == name.text }) {
      throw ViewFault(name.place, "the rows have a member '\(name.text)' already")
    }
    binding.members.append(
      .init(path: path, name: name, transformers: calls, text: written, shown: shown))
    guard binding.members.count <= ViewFile.Limit.members else {
      throw ViewFault(start, "a row has at most \(ViewFile.Limit.members) members")
    }
    file.lines[file.lines.count - 1] = .bind(binding)
  }

  private mutating func readIntent(
    _ name: ViewFile.Name, _ kind: ViewFile.Action.Kind, _ line: inout ViewLine
  ) throws(ViewFault) {
    isNamed = true
    let target = try line.word(kind == .call ? "a method" : "a view")
    var (arguments, offered, kind) = ([ViewFile.Argument](), ViewFile.Offered(), kind)
    while !line.isAtEnd {
      let place = line.here
      let word = try line.name("name=value, or a word such as 'main'")
      if line.read("=") {
        if arguments.contains(where: { $0.name.text == word.text }) {
          throw ViewFault(place, "'\(word.text)' is given twice")
        }
        let at = line.here
        arguments.append(.init(name: word, value: try value(&line), place: at))
        guard arguments.count <= ViewFile.Limit.arguments else {
          throw ViewFault(name.place, "at most \(ViewFile.Limit.arguments) arguments")
        }
        continue
      }
      switch (word.text, kind) {
      case ("push", .open), ("present", .open), ("replace", .open): kind = .open(word.text)
      case ("main", .call), ("main", .open): offered.isMain = true
      case ("destructive", .call): offered.isDestructive = true
      case ("live", .call): offered.isLive = true
      case ("dismisses", .call): offered.dismisses = true
      case ("when", .call), ("when", .open), ("unless", .call), ("unless", .open):
        try readCondition(isMet: word.text == "when", &offered, &line)
      default: throw ViewFault(place, Self.unexpected(word.text, Self.wordsBehind(kind)))
      }
    }
    if offered.when != nil, offered.unless != nil {
      throw ViewFault(name.place, "either 'when' or 'unless'")
    }
    if kind != .tab {
      if let other = intents[name.text] {
        throw ViewFault(name.place, "there is an intent '\(name.text)' already, in line \(other)")
      }
      intents[name.text] = name.place.line
    }
    file.lines.append(
      .act(
        .init(kind: kind, name: name, target: target, arguments: arguments, offered: offered)))
  }

  /// Reads the property behind `when` or `unless`, or the member of a row: `row.failed`.
  private func readCondition(
    isMet: Bool, _ offered: inout ViewFile.Offered, _ line: inout ViewLine
  ) throws(ViewFault) {
    let place = line.here
    let name = try line.name("a property, or row.MEMBER")
    guard line.read(".") else {
      if isMet { offered.when = name } else { offered.unless = name }
      return
    }
    guard offered.row == nil else {
      throw ViewFault(place, "one 'when' or 'unless' with a member of the row")
    }
    offered.row = .init(
      member: try line.name("a member of the row"), list: name.text == "row" ? nil : name,
      place: place, isMet: isMet)
  }

  // MARK: Parts of lines

  private func value(_ line: inout ViewLine) throws(ViewFault) -> ViewFile.Value {
    let start = (offset: line.i, place: line.here)
    if line.peek == "{" {
      line.go(to: start.offset + 1)
      if let name = line.nameIfAny(), line.read("}") { return .argument(name) }
      line.go(to: start.offset)
    }
    if line.peek == "?" {
      line.go(to: start.offset + 1)
      let isTyped = line.peek.map { !$0.properties.isWhitespace } ?? false
      let asked = ViewFile.Value.asked(isTyped ? try form(&line) : nil)
      line.skipSpace()
      return asked
    }
    for word in ["row.", "property."] where line.has(word) {
      line.go(to: start.offset + word.utf8.count)
      let name = try line.name("a name")
      return word == "row." ? .row(name, of: nil) : .property(name)
    }
    if let list = line.nameBeforeDot() { return .row(try line.name("a member of a row"), of: list) }
    return .json(try line.json(), start.place)
  }

  /// - Parameter units: The units that may stand here, too.
  private func form(
    _ line: inout ViewLine, or units: [String] = []
  ) throws(ViewFault) -> ViewFile.Form {
    if line.peek == "\"" { return .choice(try choices(&line)) }
    let place = line.here
    let word = try line.name(
      units.isEmpty ? "a type" : "a type, or a unit in quotes such as \"°C\"")
    if let known = ViewFile.Form.named.first(where: { $0.name == word.text }) { return known.form }
    let names = ViewFile.Form.named.map(\.name) + units
    let guess = nearest(to: word.text, among: names)
    let cure = "; a unit of your own needs quotes: as \"\(word.text)\""
    throw ViewFault(
      place,
      "no type '\(word.text)'" + meant(guess, or: names)
        + (units.isEmpty || guess != nil ? "" : cure))
  }

  private func choices(_ line: inout ViewLine) throws(ViewFault) -> [String] {
    var choices = [try line.quoted("a text in quotes").text]
    while line.read("|") { choices.append(try line.quoted("a text in quotes").text) }
    return choices
  }

  private struct Rows {
    var filter: ViewFile.Filter?
    var order: ViewFile.Order?
    var limit: Int?
    var isUsed: Bool { filter != nil || order != nil || limit != nil }
  }

  /// Reads the words behind a property.
  private func tail(_ line: inout ViewLine) throws(ViewFault) -> (ViewFile.Shown, Rows) {
    var (shown, rows) = (ViewFile.Shown(), Rows())
    var seen: Set<String> = []
    while !line.isAtEnd {
      let place = line.here
      let word = try line.name("a word such as 'as' or 'hidden'")
      if ["as", "hides", "where", "by", "limit"].contains(word.text),
        !seen.insert(word.text).inserted
      {
        throw ViewFault(place, "'\(word.text)' is given twice")
      }
      switch word.text {
      case "as": try readForm(&line, &shown)
      case "hidden": shown.isHidden = true
      case "quiet": shown.isQuiet = true
      case "hides":
        guard line.read("(") else { throw line.expects("'('") }
        repeat { shown.hides.append(try line.name("a member")) } while line.read(",")
        guard line.read(")") else { throw line.expects("')'") }
      case "where": rows.filter = try filter(&line)
      case "by":
        let path = try line.word("a path in the rows")
        let before = line.i
        let isDescending = line.nameIfAny()?.text == "desc"
        if !isDescending { line.go(to: before) }
        rows.order = .init(path: path, isDescending: isDescending)
      case "limit":
        let place = line.here
        guard case .number(let number)? = try? line.json(), let limit = number.int64,
          1...Int64(RowTable.most) ~= limit
        else { throw ViewFault(place, "a limit is a number from 1 to \(RowTable.most)") }
        rows.limit = Int(limit)
      default: throw ViewFault(place, Self.unexpected(word.text, Self.wordsBehindProperty))
      }
    }
    return (shown, rows)
  }

  /// The words behind a property, each with what follows it.
  private static let wordsBehindProperty = [
    "as TYPE", "hidden", "quiet", "hides(MEMBER)", "where PATH == VALUE", "by PATH", "limit NUMBER",
  ]

  /// Returns the words behind an intent, each with what follows it.
  private static func wordsBehind(_ kind: ViewFile.Action.Kind) -> [String] {
    let conditions = ["when PROPERTY", "unless PROPERTY"]
    return switch kind {
    case .call: ["NAME=VALUE", "main", "destructive", "live", "dismisses"] + conditions
    case .open: ["NAME=VALUE", "push", "present", "replace", "main"] + conditions
    case .tab: ["NAME=VALUE"]
    }
  }

  /// Words of other languages, with those that mean the same here.
  private static let synonyms = [
    "if": ["when", "where"], "ifnot": ["unless"], "sort": ["by"], "order": ["by"],
    "orderby": ["by"], "filter": ["where"], "hide": ["hides", "hidden"], "unit": ["as"],
    "type": ["as"], "default": ["main"], "confirm": ["destructive"], "top": ["limit"],
    "max": ["limit"],
  ]

  /// Returns the message about a word that cannot stand where it does.
  ///
  /// - Parameter words: Those that can, each with what follows it.
  private static func unexpected(_ word: String, _ words: [String]) -> String {
    let names = words.map { String($0.prefix { $0.isLowercase }) }.filter { !$0.isEmpty }
    let meant = synonyms[word]?.first(where: names.contains) ?? nearest(to: word, among: names)
    let guess = meant.flatMap { meant in words.first { $0.prefix { $0.isLowercase } == meant } }
    let all = "; expected " + words.joined(separator: ", ")
    return "unexpected '\(word)'" + (guess.map { "; did you mean '\($0)'?" } ?? all)
  }

  private func readForm(
    _ line: inout ViewLine, _ shown: inout ViewFile.Shown
  ) throws(ViewFault) {
    if line.peek == "\"" {
      let choices = try choices(&line)
      if choices.count > 1 { shown.form = .choice(choices) } else { shown.unit = choices[0] }
      return
    }
    let before = line.i
    if let word = line.nameIfAny(), Self.units.contains(word.text) {
      shown.unit = word.text
      return
    }
    line.go(to: before)
    shown.form = try form(&line, or: Self.units)
  }

  private static let units = ["bytes", "seconds", "share"]

  private func filter(_ line: inout ViewLine) throws(ViewFault) -> ViewFile.Filter {
    let (start, place) = (line.i, line.here)
    let word = line.text(line.word(at: start))
    let path = word.prefix { !"!<>".contains($0) }
    guard !path.isEmpty else { throw line.expects("a path in the rows") }
    line.go(to: start + path.unicodeScalars.count)
    line.skipSpace()
    let name = ViewFile.Name(text: String(path), place: place)
    for (sign, isThere) in [("exists", true), ("!exists", false)] where line.read(sign) {
      return .init(path: name, comparison: "exists", operand: JSONText(isThere))
    }
    for sign in ["==", "!=", "<=", ">=", "<", ">"] where line.read(sign) {
      return .init(path: name, comparison: sign, operand: try line.json().text)
    }
    throw line.expects("one of == != < <= > >= exists !exists")
  }

  // MARK: Limits

  private mutating func checkCounts() {
    func check(_ count: Int, _ most: Int, _ what: String) -> ViewFault? {
      count > most
        ? ViewFault(.init(line: 1, column: 1), "a view has at most \(most) \(what)") : nil
    }
    let tabs = file.actions.count { $0.kind == .tab }
    let names = Set(file.assignments.map(\.name.text) + file.bindings.map(\.name.text))
    let writing = file.bindings.count { $0.expression.operator.goesLeft }
    let found = [
      check(names.count, ViewFile.Limit.properties, "properties"),
      check(file.actions.count - tabs + writing, ViewFile.Limit.intents, "intents"),
      check(file.parameters.count, ViewFile.Limit.arguments, "arguments"),
      check(tabs, ViewFile.Limit.tabs, "tabs"),
    ]
    faults += found.compactMap(\.self)
    faults.sort { ($0.line, $0.column) < ($1.line, $1.column) }
  }
}

/// Returns a suggestion for the end of a message.
func meant(_ guess: String?, or all: [String] = []) -> String {
  if let guess { return "; did you mean '\(guess)'?" }
  return all.isEmpty ? "" : "; write one of " + all.joined(separator: " ")
}

extension ViewFile {
  /// Parses a file.
  ///
  /// - Returns: The lines that were understood, and the faults of the others.
  package static func read(_ bytes: [UInt8]) -> (file: ViewFile, faults: [ViewFault]) {
    let first = Place(line: 1, column: 1)
    guard bytes.count <= Limit.bytes else {
      return (ViewFile(), [ViewFault(first, "a view has at most \(Limit.bytes) bytes")])
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return (ViewFile(), [ViewFault(first, "the file is not UTF-8")])
    }
    return read(text)
  }

  /// Parses the text of a file.
  package static func read(_ text: String) -> (file: ViewFile, faults: [ViewFault]) {
    guard text.utf8.count <= Limit.bytes else { return read(Array(text.utf8)) }
    if let mark = ConfigurationFault.byteOrderMark(in: text, of: "") {
      return (ViewFile(), [ViewFault(Place(line: mark.line, column: mark.column), mark.message)])
    }
    let parser = ViewFileParser(text)
    let check = ViewCheck(parser.file, hasUnreadLines: parser.hasUnreadLines)
    let faults = parser.faults + check.faults
    return (parser.file, faults.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
  }
}
