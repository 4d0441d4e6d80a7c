package import JSON
internal import Model
internal import Wire

/// A form for the arguments of an intent, with a field for each that the chosen row does not give.
package struct IntentForm: Equatable {
  package let intent: ViewState.Intent

  /// The parameters with a field.
  let parameters: [ViewState.Intent.Parameter]

  /// The name of each field: the title of what it edits, otherwise that of the parameter.
  let labels: [String]

  /// The arguments without a field: those that name the chosen row.
  private let fixed: JSONObject

  /// The parameters whose texts may be empty, because the view shows them.
  private let edited: Set<String>

  /// The fields whose texts of the row were removed, and of which the user knows it.
  private var emptied: Set<Int> = []

  /// The values that have filled the fields; `nil` for a field that began empty.
  private let filled: [JSONValue?]
  package private(set) var fields: [String]

  /// The index of the active field.
  package private(set) var current = 0

  /// Whether a key was pressed in the form.
  private(set) var isTouched = false

  /// Whether no field has a text.
  var isEmpty: Bool { fields.allSatisfy(\.isEmpty) }

  /// The result of a key.
  package enum Outcome: Equatable {
    case goesOn
    case cancelled
    /// A field has no value that fits; it is the active one now.
    case refused(String)
    case done(JSONObject)
  }

  /// - Parameters:
  ///   - row: The chosen element. If the intent concerns it, its `id` needs no field, and its members
  ///     fill the required fields of the same names. Fields of an intent that creates something, and
  ///     optional fields, start empty.
  ///   - list: The name of the list.
  ///   - view: A view whose content is edited; its properties fill the fields of the same names
  ///     too.
  package init(
    _ intent: ViewState.Intent, row: JSONValue?, of list: String?, view: ViewState? = nil
  ) {
    self.intent = intent
    fixed = intent.fixed(by: row, of: list)
    parameters = intent.parameters.filter { [fixed] in fixed[$0.name] == nil }
    labels = parameters.map { parameter in
      let edited =
        view?.properties[parameter.name]
        ?? (parameter.name == "value" ? view?.properties[intent.name] : nil)
      return edited?.title?.harmless() ?? parameter.name.shownName
    }
    filled = parameters.map { parameter in
      let isEdited = parameter.name == "value" && view?.properties[intent.name] != nil
      let name = isEdited ? intent.name : parameter.name
      if let shown = view?.properties[name]?.value, shown != .null { return shown }
      guard case .object(let row)? = row, intent.concerns(row, of: list),
        !parameter.isOptional || intent.names(parameter, of: list)
      else { return nil }
      let value = intent.value(of: parameter, in: row, of: list)
      return value == .null ? nil : value
    }
    edited = Set(
      parameters.map(\.name).filter { name in
        view?.properties[name] != nil || name == "value" && view?.properties[intent.name] != nil
      })
    fields = zip(parameters, filled).map { parameter, value in
      value.map { parameter.text(of: $0) } ?? ""
    }
    current =
      fields.firstIndex(of: "") ?? parameters.firstIndex { $0.name != "id" } ?? 0
  }

  /// The arguments typed so far, without empty optional ones.
  package var arguments: JSONObject {
    var arguments = fixed
    for (i, (parameter, field)) in zip(parameters, fields).enumerated() {
      if field.isEmpty, parameter.isOptional { continue }
      // The text of a time has no microseconds.
      let known = filled[i].flatMap { value -> JSONValue? in
        guard parameter.format == "time", case .string = value else { return nil }
        return parameter.text(of: value) == field ? value : nil
      }
      arguments[parameter.name] = known ?? parameter.value(typed: field)
    }
    return arguments
  }

  /// Whether all required arguments are present; an empty text counts.
  package var isComplete: Bool {
    zip(parameters, fields).allSatisfy { parameter, field in
      !field.isEmpty || parameter.isOptional || parameter.type == "string"
    }
  }

  /// Notes that its text is sent, so that it can be closed without a notice.
  mutating func markSent() { isTouched = false }

  /// Handles a key.
  package mutating func press(_ key: Key) -> Outcome {
    isTouched = true
    if key != .enter { emptied = [] }
    switch key {
    case .character(let character): fields[current].append(character)
    case .paste(let text): fields[current] += text.asOneLine
    case .backspace: _ = fields[current].popLast()
    case .control("u"): fields[current] = ""
    case .up: current = max(0, current - 1)
    case .down, .tab: current = (current + 1) % fields.count
    case .enter:
      guard current == fields.count - 1 else {
        current += 1
        break
      }
      for i in parameters.indices {
        guard !emptied.contains(i), let fault = fault(at: i) else { continue }
        current = i
        if isEmptied(i) { emptied.insert(i) }
        return .refused("'\(labels[i])' \(fault)")
      }
      return .done(arguments)
    case .escape, .control("c"): return .cancelled
    default: break
    }
    return .goesOn
  }
}

extension IntentForm {
  /// Returns the reason why the text of a field is refused; `nil` if it fits.
  private func fault(at i: Int) -> String? {
    let (parameter, text) = (parameters[i], fields[i])
    if isEmptied(i) { return "is empty; enter again sends it so" }
    guard text.isEmpty else { return parameter.fits(text) ? nil : "takes \(parameter.wanted)" }
    let mayBeEmpty = parameter.type == "string" && edited.contains(parameter.name)
    return parameter.isOptional || mayBeEmpty ? nil : "needs a value"
  }

  /// Whether the text that a row had was removed.
  private func isEmptied(_ i: Int) -> Bool {
    let parameter = parameters[i]
    guard fields[i].isEmpty, case .string? = filled[i] else { return false }
    return parameter.type == "string" && parameter.words.isEmpty && parameter.format == nil
      && !parameter.isOptional && !edited.contains(parameter.name)
  }
}

extension String {
  /// A name of the protocol as people read it: `log in` for `log_in`.
  var shownName: String { String(map { $0 == "_" ? " " : $0 }) }

  /// The text in one line: inner line breaks become spaces, others are removed.
  fileprivate var asOneLine: String {
    split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

extension ViewState.Intent {
  /// The name for people.
  package var title: String { name.shownName }

  /// Whether it takes exactly one text, so that a user can write line after line.
  var takesText: Bool {
    parameters.count == 1
      && parameters.allSatisfy { $0.type == "string" && !$0.isOptional && $0.name != "id" }
  }

  /// Returns whether its form is open from the beginning when it is the main intent of a view.
  func isFocused(in view: ViewState) -> Bool {
    !isDestructive && (takesText || view.style == "present" && !parameters.isEmpty)
  }

  /// Returns the arguments that name a list element: its `id`, or its number under the name of the
  /// list.
  func fixed(by row: JSONValue?, of list: String?) -> JSONObject {
    var fixed = JSONObject()
    guard case .object(let row)? = row, concerns(row, of: list) else { return fixed }
    for parameter in parameters where !parameter.isOptional && names(parameter, of: list) {
      fixed[parameter.name] = row["id"]
    }
    return fixed
  }

  /// Returns the arguments that name a list element, also an optional number of it.
  func arguments(for row: JSONObject, of list: String?) -> JSONObject {
    var arguments = JSONObject()
    for parameter in parameters where names(parameter, of: list) {
      arguments[parameter.name] = row["id"]
    }
    return arguments
  }

  /// Returns whether it requires nothing but the element of a list that it concerns.
  func isDone(to row: JSONObject, of list: String?) -> Bool {
    concerns(row, of: list)
      && parameters.allSatisfy { $0.isOptional || names($0, of: list) }
  }

  /// Returns whether it concerns an element of a list, and makes sense for it.
  func concerns(_ row: JSONObject, of list: String?) -> Bool {
    row["id"] != nil && takesRows(of: list) && fits(row)
  }

  /// Returns whether it takes the elements of a list.
  ///
  /// If the daemon does not say it, it requires the `id` of the element, or takes that number under
  /// the singular of the list's name, such as `episode` for `episodes`. An intent with an optional
  /// `id` creates something instead.
  func takesRows(of list: String?) -> Bool {
    guard !isRowless else { return false }
    guard self.list == nil else { return self.list == list }
    return parameters.contains { ($0.name == "id" && !$0.isOptional) || names($0, of: list) }
  }

  /// Returns whether a parameter names the element of a list.
  fileprivate func names(_ parameter: Parameter, of list: String?) -> Bool {
    guard !isRowless else { return false }
    if parameter.name == "id" { return !parameter.isOptional }
    // The number of an element; a name would be one that a user invents.
    return self.list == nil && parameter.type == "integer" && parameter.name + "s" == list
  }

  /// Returns the value of a parameter for a list element.
  fileprivate func value(
    of parameter: Parameter, in row: JSONObject, of list: String?
  ) -> JSONValue? {
    names(parameter, of: list) ? row["id"] : row[parameter.source ?? parameter.name]
  }
}

extension ViewState.Intent.Parameter {
  /// The texts that a user may type, in a few words.
  var wanted: String {
    if !words.isEmpty { return words.joined(separator: " or ") }
    switch format {
    case "date", "clock": return (format.flatMap(Shape.Format.init) ?? .date).article
    case "time": return "a time such as 09:30 or 2026-12-31 12:00"
    default: break
    }
    return switch type {
    case "string": "a text"
    case "integer": "a whole number such as 12"
    case "number": "a number such as 12 or 0.5"
    case "boolean": "yes or no"
    case "array": "a list such as [1, \"two\"]"
    case "object": "an object such as {\"a\": 1}"
    case "any": "a value"
    default: type
    }
  }

  /// Returns whether a typed text fits the type; the daemon checks the rest.
  fileprivate func fits(_ text: String) -> Bool {
    if !words.isEmpty { return words.contains(text) }
    if format == "time" { return text.asTime != nil }
    if let format = format.flatMap(Shape.Format.init) { return format.normal(text) != nil }
    return switch (type, value(typed: text)) {
    case ("integer", .number(let number)): number.int64 != nil
    case ("integer", _): false
    case ("number", .number), ("boolean", .bool), ("array", .array), ("object", .object): true
    case ("number", _), ("boolean", _), ("array", _), ("object", _): false
    default: true
    }
  }

  /// Returns a value as a user may type it.
  fileprivate func text(of value: JSONValue) -> String {
    if type == "boolean", case .bool(let bool) = value { return bool ? "yes" : "no" }
    if format == "time", case .string(let time) = value { return time.asLocalTime }
    return value.bare
  }

  /// Returns the value of a typed text.
  fileprivate func value(typed text: String) -> JSONValue {
    if format == "time", let time = text.asTime { return .string(time) }
    if type == "string" { return .string(text) }
    if type == "boolean", let bool = ["yes": true, "no": false][text.lowercased()] {
      return .bool(bool)
    }
    return JSONText(typed: text).value
  }
}
