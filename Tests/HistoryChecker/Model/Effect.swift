internal import JSON

/// An event that a command causes.
struct Draft: Sendable {
  let type: String
  let stream: String
  let data: JSONText
}

/// The effect and the answer of a command.
enum Effect: Sendable {
  /// It is in the journal, up to `seq`; `value` is its result.
  case wrote(value: JSONText, seq: Int, version: Int?)
  /// It changes nothing.
  case nothing(value: JSONText)
  /// It is refused with the error of this name.
  case refused(String)
}

/// The effect that a command would have on a state.
enum Intent {
  case write([Draft], value: JSONText)
  case nothing(value: JSONText)
  case refuse(String)
}

extension State {
  /// Returns the effect that a call would have now.
  func intent(of call: MethodCall, expect: [String: Int] = [:]) -> Intent {
    for (stream, version) in expect where self.version(of: stream) != version {
      return .refuse("conflict")
    }
    guard call.method == "atomic" else { return intent(ofOne: call) }
    var state = self
    var drafts: [Draft] = []
    var values: [JSONText] = []
    for part in call.parts {
      switch state.intent(ofOne: part) {
      case .refuse(let name): return .refuse(name)
      case .nothing(let value): values.append(value)
      case .write(let more, let value):
        for draft in more { state.apply(draft) }
        drafts += more
        values.append(value)
      }
    }
    let all = JSONText(elements: values)
    return drafts.isEmpty ? .nothing(value: all) : .write(drafts, value: all)
  }

  private func intent(ofOne call: MethodCall) -> Intent {
    let parts = call.method.split(separator: ".")
    if call.method == "set" { return set(call) }
    guard parts.count == 2 else { return .refuse("method_not_found") }
    let source = "\(parts[0])/\(call.text("name"))"
    switch (parts[0], self[source]) {
    case ("cells", let value): return cell(parts[1], source, value, call)
    case ("lists", .list(let elements)): return list(parts[1], source, elements, call)
    case ("maps", .map(let members)): return map(parts[1], source, members, call)
    default: return .refuse("method_not_found")
    }
  }

  private func set(_ call: MethodCall) -> Intent {
    let source = call.text("source")
    guard let value = call.params["value"] else { return .refuse("invalid_params") }
    switch self[source] {
    case .none, .json:
      return .write(
        [Draft(type: "cells.set", stream: source, member: "value", value)], value: value)
    case .list:
      guard value.elements != nil else { return .refuse("invalid_params") }
      return .write(
        [Draft(type: "lists.replaced", stream: source, member: "values", value)], value: value)
    case .map:
      guard value.members != nil else { return .refuse("invalid_params") }
      return .write(
        [Draft(type: "maps.replaced", stream: source, member: "values", value)], value: value)
    }
  }

  private func cell(
    _ method: Substring, _ source: String, _ present: Value, _ call: MethodCall
  ) -> Intent {
    let text: JSONText? = if case .json(let text) = present { text } else { nil }
    func set(_ value: JSONText) -> Intent {
      .write([Draft(type: "cells.set", stream: source, member: "value", value)], value: value)
    }
    switch method {
    case "set": return call.params["value"].map(set) ?? .refuse("invalid_params")
    case "remove":
      guard text != nil else { return .nothing(value: JSONText(false)) }
      return .write(
        [Draft(type: "cells.removed", stream: source, data: JSONText(members: [:]))],
        value: JSONText(true))
    case "add":
      guard let present = (text ?? JSONText(0)).int else { return .refuse("rejected") }
      return set(JSONText(present + (call.int("by") ?? 1)))
    case "toggle":
      guard let present = (text ?? JSONText(false)).bool else { return .refuse("rejected") }
      return set(JSONText(!present))
    case "compare_and_set":
      let expected = call.params["expected"].flatMap { $0 == .null ? nil : $0 }
      guard expected == text, let value = call.params["value"] else { return .refuse("rejected") }
      return set(value)
    default: return .refuse("method_not_found")
    }
  }

  private func list(
    _ method: Substring, _ source: String, _ elements: [JSONText], _ call: MethodCall
  ) -> Intent {
    func write(_ type: String, _ data: [String: JSONText], _ value: JSONText) -> Intent {
      .write([Draft(type: type, stream: source, data: JSONText(members: data))], value: value)
    }
    let value = call.params["value"] ?? .null
    let at = method == "append" ? elements.count : call.int(method == "move" ? "from" : "at") ?? 0
    switch method {
    case "replace":
      return write("lists.replaced", ["values": value], JSONText(value.elements?.count ?? 0))
    case "clear":
      guard !elements.isEmpty else { return .nothing(value: JSONText(0)) }
      return write("lists.cleared", [:], JSONText(elements.count))
    case "append", "insert":
      guard 0...elements.count ~= at else { return .refuse("invalid_params") }
      return write("lists.inserted", ["at": JSONText(at), "value": value], JSONText(at))
    case "update", "remove", "move":
      guard elements.indices ~= at else { return .refuse("invalid_params") }
      if method == "update" {
        return write("lists.updated", ["at": JSONText(at), "value": value], value)
      }
      if method == "remove" { return write("lists.removed", ["at": JSONText(at)], elements[at]) }
      guard let to = call.int("to"), elements.indices ~= to else {
        return .refuse("invalid_params")
      }
      if to == at { return .nothing(value: elements[at]) }
      return write("lists.moved", ["from": JSONText(at), "to": JSONText(to)], elements[at])
    default: return .refuse("method_not_found")
    }
  }

  private func map(
    _ method: Substring, _ source: String, _ members: [String: JSONText], _ call: MethodCall
  ) -> Intent {
    func write(_ type: String, _ data: [String: JSONText], _ value: JSONText) -> Intent {
      .write([Draft(type: type, stream: source, data: JSONText(members: data))], value: value)
    }
    let key = call.text("key")
    switch method {
    case "put":
      let value = call.params["value"] ?? .null
      return write("maps.put", ["key": JSONText(string: key), "value": value], value)
    case "remove":
      guard members[key] != nil else { return .nothing(value: JSONText(false)) }
      return write("maps.removed", ["key": JSONText(string: key)], JSONText(true))
    case "clear":
      guard !members.isEmpty else { return .nothing(value: JSONText(0)) }
      return write("maps.cleared", [:], JSONText(members.count))
    default: return .refuse("method_not_found")
    }
  }
}

extension Draft {
  fileprivate init(type: String, stream: String, member: StaticString, _ value: JSONText) {
    self.init(type: type, stream: stream, data: JSONText(member: member, value))
  }
}
