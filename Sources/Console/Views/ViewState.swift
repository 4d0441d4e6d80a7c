package import Facts
package import JSON
package import Wire

/// The client's copy of a view: the frame that opened it, updated by each `next`.
package struct ViewState: Equatable {
  /// A property of a view.
  package struct Property: Equatable {
    /// The kind: `state`, `list` or `loading`.
    package var kind = "state"

    /// The loading state; `nil` for a property that does not load.
    package var state: String?

    /// The value; `nil` if there is none.
    package var value: JSONValue?

    /// The reason of a failed load.
    package var error: String?

    package init() {}

    /// The elements; `nil` if the value is not a list.
    package var elements: [JSONValue]? {
      if case .array(let elements)? = value { elements } else { nil }
    }
  }

  /// An intent of a view.
  package struct Intent: Equatable {
    /// A parameter of an intent.
    package struct Parameter: Equatable {
      package let name: String
      /// The type, for example `string`.
      package let type: String
      package let isOptional: Bool
    }

    package let name: String
    package let parameters: [Parameter]

    /// The binder of the view that it opens; `nil` for none.
    package let opens: String?

    /// Whether it is sent after each typed key.
    package let isLive: Bool

    /// Whether it removes something irrevocably.
    package let isDestructive: Bool
  }

  package let handle: Handle
  package let binder: String
  package let parent: Handle?

  /// The relation to its parent; empty for a view that the client has opened.
  package let style: String
  package private(set) var properties: [String: Property] = [:]
  package let intents: [Intent]

  /// Parses a view from the reply to `open` or from `opened`; returns `nil` if it is invalid.
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
    guard (try? change(properties)) != nil else { return nil }
  }

  /// Applies the properties of a `next` frame.
  ///
  /// - Throws: ``CollectionChange/Fault`` for a list step that does not fit.
  package mutating func change(_ changes: JSONObject) throws(CollectionChange.Fault) {
    for member in changes.members {
      guard case .object(let change) = member.value else { continue }
      try properties[member.name, default: Property()].take(change)
    }
  }
}

extension ViewState.Property {
  /// Applies the changes of a frame; other members are kept.
  fileprivate mutating func take(_ change: JSONObject) throws(CollectionChange.Fault) {
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
      case ("changes", let changes):
        if elements == nil { value = .array([]) }
        for step in try CollectionChange.read(changes.text) { try value?.apply(step) }
      default: break
      }
    }
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

extension Handle {
  /// Parses a handle of a frame; returns `nil` if it is invalid.
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
