internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The checks of a view file that need no daemon: its names, transformers and directions.
struct ViewCheck {
  private(set) var faults: [ViewFault] = []
  private let file: ViewFile
  private let known = JSONTransformers.all

  /// The transformers by name.
  private let entries: [String: TransformerRegistry<JSONValue>.Entry]

  /// The names of the properties; `nil` if some lines were not understood.
  private let properties: Set<String>?

  init(_ file: ViewFile, hasUnreadLines: Bool) {
    self.file = file
    entries = Dictionary(known.all.map { ($0.name, $0) }) { first, _ in first }
    properties =
      hasUnreadLines
      ? nil : Set(file.assignments.map(\.name.text) + file.bindings.map(\.name.text))
    for assignment in file.assignments { check(assignment.value) }
    for binding in file.bindings { check(binding) }
    for action in file.actions { check(action) }
    checkMain()
  }

  private mutating func fail(_ place: ViewFile.Place, _ message: String) {
    guard faults.count < ViewFile.Limit.faults else { return }
    faults.append(ViewFault(place, message))
  }

  // MARK: Bindings

  private mutating func check(_ binding: ViewFile.Binding) {
    let expression = binding.expression
    let sign = expression.operator
    for source in binding.sources { check(source, isAlone: expression.isOfOnePath) }
    if let fault = fault(in: expression, binding) { return faults.append(fault) }
    let assigned = file.assignments.first { $0.name.text == binding.name.text }
    if !sign.goesRight, sign.assignsAtOnce, assigned == nil {
      fail(
        binding.name.place,
        "'\(binding.name.text)' has no value to begin with; assign one, or write '<~!'")
    }
    if sign.goesRight, sign.assignsAtOnce, let assigned {
      fail(
        binding.name.place,
        "'\(binding.name.text)' is assigned in line \(assigned.name.place.line)"
          + "; write '!\(sign == .both ? "" : "~")>' to begin with that value")
    }
    if binding.isOfRows, sign != .leftToRight {
      fail(binding.name.place, "rows are only shown: write '~>' instead of '\(sign.rawValue)'")
    }
    for member in binding.members { check(member) }
    if let filter = binding.filter,
      (try? Condition(at: filter.path.pointer, filter.comparison, filter.operand)) == nil
    {
      fail(filter.path.place, "'\(filter.comparison)' takes a number or a text")
    }
    if sign.goesLeft,
      file.actions.contains(where: { $0.kind != .tab && $0.name.text == binding.name.text })
    {
      fail(
        binding.name.place,
        "'\(binding.name.text)' makes an intent of this name, and there is one already")
    }
  }

  private mutating func check(_ source: ViewFile.Name, isAlone: Bool) {
    if source.text.hasPrefix("{") || source.text.hasPrefix("*") {
      return fail(source.place, "the first segment of a source is its service")
    }
    var segments: [String] = []
    for segment in source.text.split(separator: "/", omittingEmptySubsequences: false) {
      guard segment.contains("{") || segment.contains("}") else {
        segments.append(String(segment))
        continue
      }
      let name = String(segment.dropFirst().dropLast())
      guard segment.first == "{", segment.last == "}", name.isViewName else {
        return fail(source.place, "an argument fills a whole segment: a/{name}")
      }
      check(argument: .init(text: name, place: source.place))
      segments.append("x")
    }
    let text = segments.joined(separator: "/")
    guard let pattern = Pattern(text) else {
      return fail(source.place, "'\(source.text)' is no source: \(Pattern.fault(in: text) ?? "")")
    }
    guard segments.count > 1 || pattern.isLiteral else { return }
    if !pattern.isLiteral, !isAlone {
      fail(source.place, "a list of sources has no '*'")
    } else if segments.count(where: { $0 == "*" || $0 == "**" }) > 1 {
      fail(source.place, "only one '*': it is the id of a row")
    }
  }

  /// Returns the first fault of the transformers of an expression.
  private func fault(in expression: BindExpression, _ binding: ViewFile.Binding) -> ViewFault? {
    let sign = expression.operator
    let calls = expression.leftPaths.flatMap(\.transformers) + expression.transformers
    for call in calls {
      let place = place(of: call, in: binding)
      guard let entry = entries[call.name] else {
        return ViewFault(place, unknown(call.name))
      }
      if sign.goesLeft, entry.isOperator || !entry.isReversible {
        let instead = sign.goesBothWays ? "; write '\(sign == .both ? "~>" : "!~>")'" : ""
        return ViewFault(
          place, "'\(call.name)' cannot go backwards, which '\(sign.rawValue)' needs\(instead)")
      }
      if entry.isOperator, binding.isOfRows {
        return ViewFault(place, "'\(call.name)' keeps a state, which rows have not")
      }
    }
    do throws(BindFault) {
      _ = try known.steps(for: expression)
      return nil
    } catch {
      return ViewFault(place(column: error.column, in: binding), error.message)
    }
  }

  private func unknown(_ name: String) -> String {
    "no transformer '\(name)'" + meant(nearest(to: name, among: entries.keys.sorted()))
  }

  private func place(of call: TransformerCall, in binding: ViewFile.Binding) -> ViewFile.Place {
    place(column: call.column, in: binding)
  }

  /// Returns the place of a column of the expression; a continued line is not taken apart.
  private func place(column: Int, in binding: ViewFile.Binding) -> ViewFile.Place {
    .init(line: binding.place.line, column: binding.place.column + column - 1)
  }

  private mutating func check(_ member: ViewFile.Member) {
    for call in member.transformers {
      guard let entry = entries[call.name] else {
        return fail(member.path.place, unknown(call.name))
      }
      guard !entry.isOperator else {
        return fail(member.path.place, "'\(call.name)' keeps a state, which a row has not")
      }
    }
    guard !member.transformers.isEmpty else { return }
    do throws(BindFault) {
      _ = try known.steps(for: try BindExpression("x \(member.text) ~> x"))
    } catch {
      fail(member.path.place, error.message)
    }
  }

  // MARK: Actions

  private mutating func check(_ action: ViewFile.Action) {
    for argument in action.arguments {
      check(argument.value)
      switch (argument.value, action.kind) {
      case (.asked, .open), (.asked, .tab):
        fail(argument.place, "only a method asks for a value")
      case (.row, .tab), (.property, .tab):
        fail(argument.place, "a tab takes JSON or {argument}")
      default: break
      }
    }
    for name in [action.offered.when, action.offered.unless].compactMap(\.self) {
      check(property: name)
    }
  }

  private mutating func check(_ value: ViewFile.Value) {
    switch value {
    case .json(let json, let place):
      for name in json.argumentNames { check(argument: .init(text: name, place: place)) }
      for member in json.membersInBraces {
        fail(
          place, "'\(member)' is no argument of the view, and a text takes nothing else in braces")
      }
    case .argument(let name): check(argument: name)
    case .property(let name): check(property: name)
    case .row, .asked: break
    }
  }

  private mutating func check(argument name: ViewFile.Name) {
    let names = file.parameters.map(\.name.text)
    guard name.text != "me", !names.contains(name.text) else { return }
    fail(
      name.place,
      "the view has no argument '\(name.text)'" + meant(nearest(to: name.text, among: names)))
  }

  private mutating func check(property name: ViewFile.Name) {
    guard let properties, !properties.contains(name.text) else { return }
    fail(
      name.place,
      "no property '\(name.text)'" + meant(nearest(to: name.text, among: properties.sorted())))
  }

  /// Checks that one intent of the view is main, and one of the rows.
  private mutating func checkMain() {
    let main = file.actions.filter(\.offered.isMain)
    checkMain(among: main.filter { !$0.usesRow })
    for list in Set(main.flatMap { $0.rowMembers.map { $0.list?.text } }) {
      checkMain(among: main.filter { $0.rowMembers.contains { $0.list?.text == list } })
    }
  }

  private mutating func checkMain(among main: [ViewFile.Action]) {
    guard main.count > 1,
      let always = main.first(where: {
        $0.offered.when == nil && $0.offered.unless == nil && $0.offered.row == nil
      })
    else { return }
    let other = main.first { $0.name != always.name } ?? always
    fail(
      max(always.name.place, other.name.place),
      "'\(always.name.text)' and '\(other.name.text)' are both main; say 'when' and 'unless'")
  }
}

extension ViewFile.Name {
  /// A path in a row as a JSON Pointer.
  var pointer: String {
    text == "value"
      ? ""
      : "/"
        + text.split(separator: "/").map { part in
          part.replacing("~", with: "~0")
        }.joined(separator: "/")
  }
}

extension JSONValue {
  /// The arguments that its texts name in braces.
  var argumentNames: [String] {
    switch self {
    case .string(let text): text.pieces.compactMap(\.argument)
    case .array(let elements): elements.flatMap(\.argumentNames)
    case .object(let object): object.members.flatMap(\.value.argumentNames)
    case .null, .bool, .number: []
    }
  }

  /// The arguments in its texts that are the name of a source or another path: `"rooms/{room}"`.
  var argumentsInPaths: [String] {
    switch self {
    case .string(let text):
      let pieces = text.pieces
      let written = pieces.filter { $0.argument == nil }.map(\.text).joined()
      let isPath =
        written.utf8.contains(UInt8(ascii: "/"))
        && !written.unicodeScalars.contains(where: \.properties.isWhitespace)
      return isPath ? pieces.compactMap(\.argument) : []
    case .array(let elements): return elements.flatMap(\.argumentsInPaths)
    case .object(let object): return object.members.flatMap(\.value.argumentsInPaths)
    case .null, .bool, .number: return []
    }
  }

  /// Members of rows, such as `{row.id}`, that its texts have in braces by mistake.
  var membersInBraces: [String] {
    switch self {
    case .string(let text):
      text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
        guard let end = part.firstIndex(of: "}") else { return nil }
        let names = part[..<end].split(separator: ".", omittingEmptySubsequences: false)
        let areNames = names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { isNameByte($0) } }
        return names.count == 2 && areNames ? "{\(part[..<end])}" : nil
      }
    case .array(let elements): elements.flatMap(\.membersInBraces)
    case .object(let object): object.members.flatMap(\.value.membersInBraces)
    case .null, .bool, .number: []
    }
  }

  /// Returns the value with its arguments filled in.
  func filled(_ argument: (String) -> JSONValue?) -> JSONValue {
    switch self {
    case .string(let text):
      return .string(
        text.pieces.map { piece in
          piece.argument.flatMap(argument).map(\.bareText) ?? piece.text
        }.joined())
    case .array(let elements): return .array(elements.map { $0.filled(argument) })
    case .object(let object):
      var filled = JSONObject()
      for member in object.members { filled[member.name] = member.value.filled(argument) }
      return .object(filled)
    case .null, .bool, .number: return self
    }
  }

  /// The value as people read it: a text without quotes.
  var bareText: String { if case .string(let text) = self { text } else { text.text } }
}

extension String {
  /// The parts of a text: an argument `{name}` is one of its own.
  private static let maxNameLength = 64

  fileprivate var pieces: [(text: String, argument: String?)] {
    var pieces: [(String, String?)] = []
    var rest = self[...]
    while let open = rest.firstIndex(of: "{") {
      let after = rest[rest.index(after: open)...]
      // A name is short, so the text is looked at once.
      let close = after.prefix(Self.maxNameLength + 1).firstIndex(of: "}")
      let name = close.map { String(after[..<$0]) }
      if let close, let name, name.isViewName {
        pieces.append((String(rest[..<open]), nil))
        pieces.append(("{\(name)}", name))
        rest = after[after.index(after: close)...]
      } else {
        pieces.append((String(rest[...open]), nil))
        rest = after
      }
    }
    pieces.append((String(rest), nil))
    return pieces
  }
}
