package import JSON
package import Model
package import Wire

/// The client's copy of a view: the frame that opened it, updated by each `next`.
package struct ViewState: Equatable {
  /// A property of a view.
  package struct Property: Equatable {
    /// The kind: `state`, `list` or `loading`.
    package var kind = "state"

    /// The way to show the value: `bytes`, `seconds`, `share`, `date`, `time`, `secret`, `before`,
    /// `after`, `quiet`, `hidden`, or a unit; `nil` for the usual one.
    package var hint: String?

    /// Whether a property with another hint is shown only while it says something.
    package var isQuiet = false

    /// The hints of members of the value, or of its elements, by name.
    package var members: [String: String] = [:]

    /// The members of the value, or of its elements, that are shown only with the whole element.
    package var hides: [String] = []

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

    /// Whether the value is there, and neither null, false, 0 nor empty.
    package var saysSomething: Bool {
      switch value {
      case nil, .null?, .bool(false)?: false
      case .number(let number)?: number.double != 0
      case .string(let text)?: !text.isEmpty
      case .array(let elements)?: !elements.isEmpty
      case .object(let object)?: !object.members.isEmpty
      case .bool(true)?: true
      }
    }

    /// Whether people are to see it besides the list.
    var isShown: Bool {
      switch hint {
      case "hidden", "before", "after": false
      case "quiet": saysSomething || error != nil || isLoading
      default: !isQuiet || saysSomething || error != nil || isLoading
      }
    }

    var isLoading: Bool { ["loading", "reloading"].contains(state) }
  }

  /// The properties of a view by name, in the order in which the daemon declares them.
  package struct Properties: Equatable, Sequence {
    private var all: [(name: String, property: Property)] = []

    package subscript(name: String) -> Property? { all.first { $0.name == name }?.property }

    /// Changes a property, which is added if it is new.
    mutating func change<Failure: Error>(
      _ name: String, _ body: (inout Property) throws(Failure) -> Void
    ) throws(Failure) {
      if let i = all.firstIndex(where: { $0.name == name }) {
        try body(&all[i].property)
      } else {
        var property = Property()
        try body(&property)
        all.append((name, property))
      }
    }

    package func makeIterator() -> IndexingIterator<[(name: String, property: Property)]> {
      all.makeIterator()
    }

    package static func == (left: Self, right: Self) -> Bool {
      left.all.elementsEqual(right.all) { $0 == $1 }
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

      /// A line about it; empty for none.
      package var doc = ""

      /// `date`, `time` or `secret`; `nil` for the usual one.
      package var format: String?

      /// The texts to choose from; empty for any.
      package var words: [String] = []
    }

    package let name: String
    package let parameters: [Parameter]

    /// The binder of the view that it opens; `nil` for none.
    package let opens: String?

    /// Whether it is the main action of the view.
    package let isMain: Bool

    /// The property that must say something, or nothing, for the intent to make sense; `nil` if it
    /// always does.
    fileprivate let when: String?
    fileprivate let unless: String?

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
  package private(set) var properties = Properties()

  /// The intents in the order of the daemon, those that remove something last.
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
    let all = intents.members.map(Intent.init)
    self.intents = all.filter { !$0.isDestructive } + all.filter(\.isDestructive)
    guard (try? change(properties)) != nil else { return nil }
  }

  /// Applies the properties of a `next` frame.
  ///
  /// - Throws: ``CollectionChange/Fault`` for a list step that does not fit.
  package mutating func change(_ changes: JSONObject) throws(CollectionChange.Fault) {
    for member in changes.members {
      guard case .object(let change) = member.value else { continue }
      try properties.change(member.name) { property throws(CollectionChange.Fault) in
        try property.apply(change)
      }
    }
  }

  /// Returns whether an intent makes sense now.
  package func offers(_ intent: Intent) -> Bool {
    func says(_ name: String) -> Bool { properties[name]?.saysSomething == true }
    return intent.when.map(says) ?? true && !(intent.unless.map(says) ?? false)
  }

  /// The main action that makes sense now; `nil` for none.
  package var main: Intent? { intents.first { $0.isMain && offers($0) } }
}

extension ViewState.Property {
  /// Applies the changes of a frame; other members are kept.
  fileprivate mutating func apply(_ change: JSONObject) throws(CollectionChange.Fault) {
    for member in change.members {
      switch (member.name, member.value) {
      case ("kind", .string(let kind)): self.kind = kind
      case ("hint", .string(let hint)): self.hint = hint
      case ("hides", .array(let names)): hides = names.map(\.bare)
      case ("quiet", let value): isQuiet = value == .bool(true)
      case ("members", .object(let hints)):
        for hint in hints.members { members[hint.name] = hint.value.bare }
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
        if case .object(let fields)? = intent["fields"] {
          for i in parameters.indices { parameters[i].read(fields[parameters[i].name]) }
        }
      }
      if case .string(let binder)? = intent["opens"] { opens = binder }
    }
    (self.parameters, self.opens) = (parameters, opens)
    func says(_ name: String) -> Bool {
      if case .object(let intent) = member.value { intent[name] == .bool(true) } else { false }
    }
    func property(_ name: String) -> String? {
      if case .object(let intent) = member.value { intent[name]?.bare } else { nil }
    }
    (isMain, isLive, isDestructive) = (says("main"), says("live"), says("destructive"))
    (when, unless) = (property("when"), property("unless"))
  }
}

extension ViewState.Intent.Parameter {
  /// Reads its member of `fields`.
  fileprivate mutating func read(_ field: JSONValue?) {
    guard case .object(let field)? = field else { return }
    doc = field["doc"]?.bare ?? ""
    format = field["format"]?.bare
    if case .array(let words)? = field["words"] { self.words = words.map(\.bare) }
  }

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

/// The open views according to the daemon's frames, and the front view.
package struct ViewStack: Equatable {
  /// The views in the order in which they were opened.
  package private(set) var views: [ViewState] = []

  /// The handle of the front view; `nil` if none is open.
  package private(set) var front: Handle?

  package init() {}

  package var isEmpty: Bool { views.isEmpty }

  package subscript(handle: Handle) -> ViewState? { views.first { $0.handle == handle } }

  package var frontView: ViewState? { front.flatMap { self[$0] } }

  /// The front view and its parents, the root first.
  package var path: [ViewState] {
    var path: [ViewState] = []
    var next = frontView
    while let view = next {
      path.insert(view, at: 0)
      next = view.parent.flatMap { self[$0] }
    }
    return path
  }

  /// The tabs next to the front view, including its own; empty if there are none.
  package var tabs: [ViewState] {
    guard let view = path.last(where: { $0.style == "tab" }) else { return [] }
    return views.filter { $0.style == "tab" && $0.parent == view.parent }
  }

  /// Handles the reply to `open`.
  package mutating func open(_ answer: JSONObject) {
    guard let view = ViewState(answer) else { return }
    views.append(view)
    front = view.handle
  }

  /// Handles a notification; ignores those that do not concern views.
  ///
  /// - Throws: ``CollectionChange/Fault`` for a list step that does not fit.
  package mutating func receive(
    _ method: String, _ params: JSONObject
  ) throws(CollectionChange.Fault) {
    guard let handle = params["view"].flatMap(Handle.init) else { return }
    switch method {
    case "opened":
      guard let view = ViewState(params) else { return }
      views.append(view)
      // The first of several tabs stays in front.
      if view.style != "tab" || tabs.isEmpty && front == view.parent { front = handle }
    case "next":
      guard let i = views.firstIndex(where: { $0.handle == handle }),
        case .object(let changes)? = params["props"]
      else { return }
      try views[i].change(changes)
    case "closed", "fail": close(handle)
    default: break
    }
  }

  /// Removes a view and its children.
  package mutating func close(_ handle: Handle) {
    guard let view = self[handle] else { return }
    for child in views where child.parent == handle { close(child.handle) }
    views.removeAll { $0.handle == handle }
    guard front == handle else { return }
    front = view.parent.flatMap { self[$0] }?.handle ?? views.last?.handle
    // A sibling is preferred to the parent.
    if let beside = views.last(where: { $0.parent == view.parent && $0.parent != nil }) {
      front = beside.handle
    }
  }

  /// Brings the next tab to the front.
  package mutating func turn() {
    let tabs = tabs
    guard let i = tabs.firstIndex(where: { tab in path.contains { $0.handle == tab.handle } }),
      tabs.count > 1
    else { return }
    front = deepest(tabs[(i + 1) % tabs.count].handle)
  }

  /// Returns the most recently opened descendant of a view, or the view itself.
  private func deepest(_ handle: Handle) -> Handle {
    views.last { $0.parent == handle }.map { deepest($0.handle) } ?? handle
  }
}
