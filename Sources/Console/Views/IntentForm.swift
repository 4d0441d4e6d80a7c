package import JSON

/// The arguments of an intent while somebody types them, one field each.
package struct IntentForm: Equatable {
  package let intent: ViewState.Intent
  package private(set) var fields: [String]

  /// The field that is typed into.
  package private(set) var current = 0

  /// Whether something was typed since it is there.
  private(set) var isTouched = false

  /// What a key has led to.
  package enum Outcome: Equatable {
    case goesOn
    case cancelled
    case done(JSONObject)
  }

  /// - Parameters:
  ///   - row: The element of a list that is chosen: if the intent is about it, its members are what
  ///     the fields of their names hold at first. What makes something new begins empty, and so does
  ///     what may be left out: to ask for what is there already changes nothing.
  ///   - list: The name of the list.
  ///   - view: A view in which what it shows is edited: its properties are that as well.
  package init(
    _ intent: ViewState.Intent, row: JSONValue?, of list: String?, view: ViewState? = nil
  ) {
    self.intent = intent
    fields = intent.parameters.map { parameter in
      if let shown = view?.properties[parameter.name]?.value, shown != .null { return shown.bare }
      guard case .object(let row)? = row, intent.concerns(row, of: list),
        !parameter.isOptional || parameter.isElement(of: list)
      else { return "" }
      return parameter.value(in: row, of: list)?.bare ?? ""
    }
    current =
      fields.firstIndex(of: "") ?? intent.parameters.firstIndex { $0.name != "id" } ?? 0
  }

  /// The arguments as far as they are typed; those left empty that may be are left out.
  package var arguments: JSONObject {
    var arguments = JSONObject()
    for (parameter, field) in zip(intent.parameters, fields) {
      if field.isEmpty, parameter.isOptional { continue }
      arguments[parameter.name] =
        parameter.type == "string" ? .string(field) : JSONText(typed: field).value
    }
    return arguments
  }

  /// Whether everything is there that it cannot do without; an empty text is a text.
  package var isComplete: Bool {
    zip(intent.parameters, fields).allSatisfy { parameter, field in
      !field.isEmpty || parameter.isOptional || parameter.type == "string"
    }
  }

  /// Takes a key.
  package mutating func press(_ key: Key) -> Outcome {
    isTouched = true
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
      return .done(arguments)
    case .escape, .control("c"): return .cancelled
    default: break
    }
    return .goesOn
  }
}

extension String {
  /// The text in one line, as a field holds it: a line break is a space, and one at the end none.
  fileprivate var asOneLine: String {
    split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

extension ViewState.Intent {
  /// Whether it takes one text and nothing else, so that one writes line after line.
  var takesText: Bool {
    parameters.count == 1
      && parameters.allSatisfy { $0.type == "string" && !$0.isOptional && $0.name != "id" }
  }

  /// Whether it is about an element of a list: it cannot do without the `id` that the element has, or
  /// takes that number under the name of what the list is of, as an `episode` of `episodes`.
  ///
  /// What may be given an `id` makes something new.
  func concerns(_ row: JSONObject, of list: String?) -> Bool {
    row["id"] != nil
      && parameters.contains { $0.name == "id" && !$0.isOptional || $0.isElement(of: list) }
  }

  /// What it is asked with for an element of a list that it is about, and that has all that it cannot
  /// do without; `nil` for others.
  func arguments(for row: JSONObject, of list: String?) -> JSONObject? {
    guard concerns(row, of: list) else { return nil }
    var arguments = JSONObject()
    for parameter in parameters where !parameter.isOptional || parameter.isElement(of: list) {
      guard let value = parameter.value(in: row, of: list) else { return nil }
      arguments[parameter.name] = value
    }
    return arguments
  }
}

extension ViewState.Intent.Parameter {
  /// Whether it is the number of an element; a name would be one that somebody makes up.
  fileprivate func isElement(of list: String?) -> Bool { type == "integer" && name + "s" == list }

  /// What it is for an element of a list.
  fileprivate func value(in row: JSONObject, of list: String?) -> JSONValue? {
    isElement(of: list) ? row["id"] : row[name]
  }
}
