internal import Features

/// The names that members of rows can have, as far as the text of a service shows them for sure.
///
/// A member gets its name from the text if all rows are written in it: as `{ name = … }`, or as a
/// variable with such a row or a copy of one, whose members are set as `row.name = …`. A computed name
/// such as `row[key]`, and a row from elsewhere, such as the data of an event, may have any.
struct LuaRowNames {
  /// All names that members have in the text, by the row sets whose rows have no others.
  private(set) var names: [String: Set<String>] = [:]
  private let tokens: [LuaToken]

  /// The number of places that declare or assign a name.
  private let declared: [String: Int]

  /// The row sets in variables of the file, by the names of the variables.
  private let rowSets: [String: String]

  init(_ text: String, _ declaration: ScriptDeclaration) {
    let tokens = LuaToken.all(in: text)
    let declared = LuaReview.declared(in: tokens[...])
    (self.tokens, self.declared) = (tokens, declared)
    let tables = declaration.tables.filter { $0.kind == .rows }
    var rowSets: [String: String] = [:]
    for i in tokens.indices.dropLast(5) where tokens[i].isName("local") {
      guard tokens[i + 2].isSign("="), tokens[i + 3].isName("rows"), tokens[i + 4].isSign("("),
        tables.contains(where: { $0.name == tokens[i + 5].text }),
        declared[tokens[i + 1].text] == 1
      else { continue }
      rowSets[tokens[i + 1].text] = tokens[i + 5].text
    }
    self.rowSets = rowSets
    guard !rowSets.isEmpty, declared["rows"] == nil || rowSets["rows"] != nil,
      !tokens.indices.contains(where: isComputedName)
    else { return }
    let written = Set(tokens.indices.compactMap(memberName))
    let copies = self.copies
    for (variable, table) in rowSets where writes(only: copies, to: variable) {
      names[table] = written
    }
  }

  private func token(_ i: Int) -> LuaToken? { tokens.indices ~= i ? tokens[i] : nil }

  private func isSign(_ sign: String, _ i: Int) -> Bool { token(i)?.isSign(sign) == true }

  private func isName(_ name: String, _ i: Int) -> Bool { token(i)?.isName(name) == true }

  private func isMember(_ i: Int) -> Bool { isSign(".", i - 1) || isSign(":", i - 1) }

  /// Whether the variable of a row set begins here.
  private func isRowSet(_ i: Int) -> Bool {
    guard let token = token(i), token.kind == .name else { return false }
    return rowSets[token.text] != nil && !isMember(i)
  }

  /// Whether `[…]` begins here with a name that the text does not have.
  ///
  /// The key of a row is none.
  private func isComputedName(_ i: Int) -> Bool {
    guard isSign("[", i), !isRowSet(i - 1) else { return false }
    guard let name = token(i + 1), isSign("]", i + 2) else { return true }
    return name.kind == .text ? name.text.isEmpty : name.kind != .number
  }

  /// Returns the name that a token may give to a member.
  private func memberName(_ i: Int) -> String? {
    switch tokens[i].kind {
    case .text: tokens[i].text
    case .name: isSign("=", i + 1) || isMember(i) ? tokens[i].text : nil
    case .number, .sign: nil
    }
  }

  // MARK: Rows

  /// The variables that have rows of the text, or copies of rows, wherever they are declared.
  private var copies: Set<String> {
    var found: [String: Int] = [:]
    for i in tokens.indices where tokens[i].kind == .name {
      if isName("local", i - 1), isSign("=", i + 1), isRow(i + 2, among: []) {
        found[tokens[i].text, default: 0] += 1
      } else if isSign(",", i - 1), isName("for", i - 3), isName("in", i + 1),
        isName("pairs", i + 2), isSign("(", i + 3), isRowSet(i + 4), isSign(")", i + 5)
      {
        found[tokens[i].text, default: 0] += 1
      }
    }
    let others = Set(tokens.indices.filter(isAssignedWithOthers).map { tokens[$0].text })
    return Set(found.filter { declared[$0.key] == $0.value }.keys).subtracting(others)
  }

  /// The most tokens of a list of names that are looked at.
  private static let longestList = 100

  /// Whether a variable may be assigned as the first of several: `a, b = 1, 2`.
  private func isAssignedWithOthers(_ i: Int) -> Bool {
    guard tokens[i].kind == .name, !isMember(i), isSign(",", i + 1) else { return false }
    var end = i + 1
    while isSign(",", end), token(end + 1)?.kind == .name {
      guard end - i < Self.longestList else { return true }
      end += 2
      while let next = endOfIndex(end) { end = next }
    }
    return isSign("=", end)
  }

  /// Returns whether a variable is used for reading, and for writing rows of the text only.
  private func writes(only copies: Set<String>, to variable: String) -> Bool {
    tokens.indices.filter { isRowSet($0) && tokens[$0].text == variable }.allSatisfy { i in
      if isName("local", i - 1) { return true }
      guard let end = endOfIndex(i + 1) else {
        return isSign("(", i - 1) && (isName("pairs", i - 2) || isName("next", i - 2))
      }
      if isSign("=", end) { return isRow(end + 1, among: copies) }
      return !isSign(",", end)
    }
  }

  /// The words for no row.
  private static let none = ["nil", "null", "false"]

  /// Returns whether an expression that begins here is a row of the text, a copy of one, or none.
  private func isRow(_ start: Int, among copies: Set<String>) -> Bool {
    var i = start
    while let first = token(i) {
      if first.isSign("{") {
        i = endOfBraces(i)
      } else if isRowSet(i), let end = endOfIndex(i + 1) {
        i = end
      } else if first.kind == .name, copies.contains(first.text) || Self.none.contains(first.text) {
        i += 1
      } else {
        return false
      }
      guard let next = token(i) else { return true }
      guard next.isName("or") || next.isName("and") else {
        return next.kind == .name || next.isSign(";")
      }
      i += 1
    }
    return false
  }

  /// Returns the place behind `[…]` or `.name`; `nil` if neither begins here.
  private func endOfIndex(_ i: Int) -> Int? {
    if isSign(".", i), token(i + 1)?.kind == .name { return i + 2 }
    return isSign("[", i) ? end(of: "[", "]", i) : nil
  }

  private func endOfBraces(_ i: Int) -> Int { end(of: "{", "}", i) }

  private func end(of open: String, _ close: String, _ start: Int) -> Int {
    var (depth, i) = (0, start)
    while let token = token(i) {
      if token.isSign(open) { depth += 1 }
      if token.isSign(close) { depth -= 1 }
      i += 1
      if depth == 0 { return i }
    }
    return i
  }
}
