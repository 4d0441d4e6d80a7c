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

    /// The name for people; `nil` if it is that of the property.
    package var title: String?

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
    package var saysSomething: Bool { value?.saysSomething == true }

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

      /// `date`, `time`, `clock` or `secret`; `nil` for the usual one.
      package var format: String?

      /// The texts to choose from; empty for any.
      package var words: [String] = []

      /// The member of the row with the present value; `nil` for that of the same name.
      var source: String?
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

    /// The member of a row that must say something, or nothing.
    private let whenRow: String?
    private let unlessRow: String?

    /// Returns whether it makes sense for a row.
    func fits(_ row: JSONObject) -> Bool {
      func says(_ name: String) -> Bool { row[name]?.saysSomething == true }
      return whenRow.map(says) ?? true && !(unlessRow.map(says) ?? false)
    }

    /// Whether it is sent after each typed key.
    package let isLive: Bool

    /// Whether it removes something irrevocably.
    package let isDestructive: Bool

    /// Whether the user wants to see the value of its answer.
    let isAnswer: Bool

    /// The property whose rows it takes; `nil` if its parameters say it.
    let list: String?

    /// Whether its `id` is that of no row.
    let isRowless: Bool
  }

  package let handle: Handle
  package let binder: String
  package let parent: Handle?

  /// The text of its tab; `nil` for the name of its binder.
  private let title: String?

  /// The name for people.
  var label: String { title ?? binder.shownName }

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
    title = if case .string(let title)? = opened["title"] { title } else { nil }
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

  /// The main action of the view itself that makes sense now; `nil` for none.
  package var main: Intent? {
    intents.first { $0.isMain && offers($0) && !takesRows($0) }
  }

  /// Returns whether an intent is for rows of some list of the view.
  func takesRows(_ intent: Intent) -> Bool {
    intent.takesRows(of: intent.list)
      || properties.contains { $0.property.hint != "hidden" && intent.takesRows(of: $0.name) }
  }

  /// The lists whose rows can be chosen, in the order of the view.
  ///
  /// An array of texts is one only if there is no list of objects.
  var lists: [(name: String, elements: [JSONValue])] {
    let all = properties.compactMap { name, property in
      property.hint == "hidden"
        ? nil : property.elements.map { (name: name, property: property, elements: $0) }
    }
    let lists = all.filter { name, property, elements in
      elements.contains { if case .object = $0 { true } else { false } }
        || elements.isEmpty && property.kind == "list" || intents.contains { $0.list == name }
    }
    guard lists.isEmpty else { return lists.map { ($0.name, $0.elements) } }
    // Of equally long ones, the first.
    let longest = all.reduce(nil as (name: String, elements: [JSONValue])?) { longest, next in
      if let longest, longest.elements.count >= next.elements.count {
        longest
      } else {
        (name: next.name, elements: next.elements)
      }
    }
    return longest.map { [$0] } ?? []
  }
}

extension ViewState.Property {
  /// Applies the changes of a frame; other members are kept.
  fileprivate mutating func apply(_ change: JSONObject) throws(CollectionChange.Fault) {
    for member in change.members {
      switch (member.name, member.value) {
      case ("kind", .string(let kind)): self.kind = kind
      case ("hint", .string(let hint)): self.hint = hint
      case ("title", .string(let title)): self.title = title
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

extension JSONValue {
  /// Whether it is neither null, false, 0 nor empty.
  fileprivate var saysSomething: Bool {
    switch self {
    case .null, .bool(false): false
    case .number(let number): number.double != 0
    case .string(let text): !text.isEmpty
    case .array(let elements): !elements.isEmpty
    case .object(let object): !object.members.isEmpty
    case .bool(true): true
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
    (isAnswer, isRowless, list) = (says("answers"), says("rowless"), property("list"))
    (when, unless) = (property("when"), property("unless"))
    (whenRow, unlessRow) = (property("when_row"), property("unless_row"))
  }
}

extension ViewState.Intent.Parameter {
  /// Reads its member of `fields`.
  fileprivate mutating func read(_ field: JSONValue?) {
    guard case .object(let field)? = field else { return }
    doc = field["doc"]?.bare ?? ""
    (format, source) = (field["format"]?.bare, field["from"]?.bare)
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

  /// The tab that was last at the front, by its parent.
  private var turned: [Handle: Handle] = [:]

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

  /// The tabs within the front view, or next to it with its own; empty if there are none.
  package var tabs: [ViewState] {
    func tabs(of parent: Handle?) -> [ViewState] {
      views.filter { $0.style == "tab" && $0.parent == parent }
    }
    let inner = front.map(tabs) ?? []
    guard inner.isEmpty, let view = path.last(where: { $0.style == "tab" }) else { return inner }
    return tabs(of: view.parent)
  }

  /// The views that the key tab brings to the front in turn: the one with the tabs, if it has
  /// intents, and the tabs.
  var stops: [Handle] {
    let tabs = tabs
    guard let parent = tabs.first?.parent.flatMap({ self[$0] }) else { return [] }
    return (parent.intents.isEmpty ? [] : [parent.handle]) + tabs.map(\.handle)
  }

  /// The view with tabs that is shown above the one within it; `nil` if there is none.
  var halves: (above: ViewState, below: ViewState)? {
    guard let parent = tabs.first?.parent.flatMap({ self[$0] }), let front = frontView else {
      return nil
    }
    if parent.handle == front.handle {
      let shown = turned[parent.handle].flatMap { self[$0] } ?? tabs.first
      return shown.flatMap { self[deepest($0.handle)] }.map { (parent, $0) }
    }
    // A view that covers the tab covers all of it.
    let covering = path.last { ["push", "present"].contains($0.style) }
    guard covering == nil || !isWithin(covering?.handle, parent.handle) else { return nil }
    return (parent, front)
  }

  /// Returns whether a view is a descendant of another one.
  private func isWithin(_ view: Handle?, _ other: Handle) -> Bool {
    guard let parent = view.flatMap({ self[$0]?.parent }) else { return false }
    return parent == other || isWithin(parent, other)
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
      // The first of several tabs stays in front, and a view with intents before its tabs.
      let parent = view.parent.flatMap { self[$0] }
      if view.style != "tab" || front == view.parent && parent?.intents.isEmpty != false {
        front = handle
      }
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
    turned[handle] = nil
    for child in views where child.parent == handle { close(child.handle) }
    views.removeAll { $0.handle == handle }
    guard front == handle else { return }
    let parent = view.parent.flatMap { self[$0] }
    front = parent?.handle ?? views.last?.handle
    guard let parent else { return }
    // A sibling is preferred to the parent; behind one that has covered it, only another such one is.
    let covers = ["push", "present"].contains(view.style) && !parent.intents.isEmpty
    let beside = views.filter {
      $0.parent == parent.handle && (!covers || ["push", "present"].contains($0.style))
    }
    let shown = covers ? nil : beside.first { $0.handle == turned[parent.handle] }
    if let next = shown ?? beside.last { front = next.handle }
  }

  /// Brings the next tab to the front, or the view with the tabs.
  package mutating func turn() {
    let (stops, path) = (stops, path.map(\.handle))
    guard stops.count > 1 else { return }
    // Of the view with the tabs and one of them, the tab.
    let i = stops.lastIndex { path.contains($0) } ?? 0
    let next = stops[(i + 1) % stops.count]
    guard let view = self[next] else { return }
    if view.style == "tab", let parent = view.parent { turned[parent] = next }
    let isTab = tabs.contains { $0.handle == next }
    front = isTab ? deepest(next) : next
  }

  /// Returns the most recently opened descendant of a view, or the view itself.
  private func deepest(_ handle: Handle) -> Handle {
    views.last { $0.parent == handle }.map { deepest($0.handle) } ?? handle
  }
}
