package import JSON
package import Wire

/// One view of the daemon as its client has it: what `open` and `opened` say, and what `next` has
/// changed since.
package struct ViewState: Equatable {
  /// One property.
  package struct Property: Equatable {
    /// `state`, `list` or `loading`.
    package var kind = "state"

    /// What loading has come to; `nil` for what is not loading.
    package var state: String?

    /// `nil` when there is nothing to show.
    package var value: JSONValue?

    /// Why loading has failed.
    package var error: String?

    package init() {}

    /// The elements; `nil` when it shows none.
    package var elements: [JSONValue]? {
      if case .array(let elements)? = value { elements } else { nil }
    }
  }

  /// One intent.
  package struct Intent: Equatable {
    /// One argument.
    package struct Parameter: Equatable {
      package let name: String
      /// For example `string`.
      package let type: String
      package let isOptional: Bool
    }

    package let name: String
    package let parameters: [Parameter]

    /// The binder of the view that it opens; `nil` for none.
    package let opens: String?

    /// Whether it is asked with each key that is typed.
    package let isLive: Bool

    /// Whether it takes something away that it does not bring back.
    package let isDestructive: Bool
  }

  package let handle: Handle
  package let binder: String
  package let parent: Handle?

  /// How it stands to its parent; empty for one that the client has opened.
  package let style: String
  package private(set) var properties: [String: Property] = [:]
  package let intents: [Intent]

  /// A view as an answer to `open` or an `opened` describes it; `nil` when neither is that.
  package init?(_ opened: JSONObject) {
    guard let handle = opened["view"].flatMap(Handle.init),
      case .string(let binder)? = opened["binder"],
      case .object(let properties)? = opened["props"],
      case .object(let intents)? = opened["intents"]
    else { return nil }
    (self.handle, self.binder) = (handle, binder)
    parent = opened["parent"].flatMap(Handle.init)
    if case .string(let style)? = opened["style"] { self.style = style } else { style = "" }
    self.intents = intents.members.map(Intent.init)
    change(properties)
  }

  /// Takes what `next` says of the properties.
  package mutating func change(_ changes: JSONObject) {
    for member in changes.members {
      guard case .object(let change) = member.value else { continue }
      properties[member.name, default: Property()].take(change)
    }
  }
}

extension ViewState.Property {
  /// Takes what a frame says; what it does not name stays.
  fileprivate mutating func take(_ change: JSONObject) {
    for member in change.members {
      switch (member.name, member.value) {
      case ("kind", .string(let kind)): self.kind = kind
      case ("state", .string(let state)):
        self.state = state
        error = nil
      case ("value", let value): self.value = value
      case ("gone", _): value = nil
      case ("error", .object(let object)):
        if case .string(let message)? = object["message"] { error = message }
      case ("changes", .array(let steps)): take(steps)
      default: break
      }
    }
  }

  private mutating func take(_ steps: [JSONValue]) {
    var elements = elements ?? []
    value = nil  // so that the elements are not copied
    for case .object(let step) in steps {
      guard case .string(let name)? = step["op"] else { continue }
      let (at, from) = (step.index("at"), step.index("from"))
      switch (name, step["value"]) {
      case ("insert", let value?):
        if let at, at <= elements.count { elements.insert(value, at: at) }
      case ("update", let value?): if let at, at < elements.count { elements[at] = value }
      case ("merge", .object(let members)?):
        guard let at, at < elements.count, case .object(var object) = elements[at] else { continue }
        for member in members.members { object[member.name] = member.value }
        elements[at] = .object(object)
      case ("remove", _): if let at, at < elements.count { elements.remove(at: at) }
      case ("move", _):
        if let from, let to = step.index("to"), from < elements.count, to < elements.count {
          elements.insert(elements.remove(at: from), at: to)
        }
      case ("reset", .array(let values)?): elements = values
      default: break
      }
    }
    value = .array(elements)
  }
}

extension ViewState.Intent {
  fileprivate init(_ member: JSONObject.Member) {
    name = member.name
    var (parameters, opens): ([Parameter], String?) = ([], nil)
    if case .object(let intent) = member.value {
      if case .object(let described)? = intent["params"] {
        parameters = described.members.map(Parameter.init)
      }
      if case .string(let binder)? = intent["opens"] { opens = binder }
    }
    (self.parameters, self.opens) = (parameters, opens)
    func says(_ name: String) -> Bool {
      if case .object(let intent) = member.value { intent[name] == .bool(true) } else { false }
    }
    (isLive, isDestructive) = (says("live"), says("destructive"))
  }
}

extension ViewState.Intent.Parameter {
  fileprivate init(_ member: JSONObject.Member) {
    var type = member.value.bare
    isOptional = type.hasSuffix("?")
    if isOptional { type.removeLast() }
    (name, self.type) = (member.name, type)
  }
}

extension JSONObject {
  /// A member that is an index.
  fileprivate func index(_ name: String) -> Int? {
    guard case .number(let number)? = self[name], let index = number.int64, index >= 0 else {
      return nil
    }
    return Int(index)
  }
}

extension Handle {
  /// A handle as it stands in a frame; `nil` for what is none.
  package init?(_ value: JSONValue) {
    switch value {
    case .string(let name): self.init(name: name)
    case .number(let number):
      guard let number = number.int64 else { return nil }
      self = .number(Int(number))
    default: return nil
    }
  }
}
