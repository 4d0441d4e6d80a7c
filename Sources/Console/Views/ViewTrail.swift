internal import JSON
internal import Wire

/// How the views before somebody were opened, so that they can be opened again with another connection.
struct ViewTrail {
  /// What was asked when a view was opened.
  struct Origin: Equatable {
    /// The binder of the view that was asked.
    let binder: String
    let intent: String
    let arguments: JSONObject

    /// Whether the view took the place of the one that was asked, as after a login; else it was opened from
    /// that one.
    let replaces: Bool
  }

  private struct Asked {
    let view: Handle
    let origin: Origin

    /// Whether to ask it again only opens a view, and makes nothing.
    let isRepeatable: Bool
  }

  private var asked: [Int: Asked] = [:]

  /// What was asked last of each view, and not refused.
  private var last: [Handle: Origin] = [:]

  /// What was asked last of a view whose place another one takes, by their parent.
  private var replaced: [Handle: Origin] = [:]

  /// How each view was opened; those that have come by themselves are not there.
  private(set) var origins: [Handle: Origin] = [:]

  /// A trail of views that were just opened again.
  init(_ origins: [Handle: Origin] = [:]) {
    self.origins = origins
  }

  /// Takes what is asked of a view.
  mutating func ask(
    _ view: ViewState, _ name: String, _ arguments: JSONObject, as request: Int
  ) {
    let intent = view.intents.first { $0.name == name }
    let origin = Origin(
      binder: view.binder, intent: name, arguments: arguments, replaces: false)
    asked[request] = Asked(view: view.handle, origin: origin, isRepeatable: intent?.opens != nil)
    last[view.handle] = Origin(
      binder: view.binder, intent: name, arguments: arguments, replaces: true)
  }

  /// Takes the answer to what was asked.
  mutating func answer(_ request: Int, isRefused: Bool, opened: Handle?) {
    guard let asked = asked.removeValue(forKey: request) else { return }
    if isRefused { last[asked.view] = nil }
    if !isRefused, asked.isRepeatable, let opened { origins[opened] = asked.origin }
  }

  /// Takes a notification.
  ///
  /// - Parameter stack: The views before it.
  mutating func take(_ method: String, _ params: JSONObject, _ stack: ViewStack) {
    guard let handle = params["view"].flatMap(Handle.init) else { return }
    switch method {
    case "closed":
      if params["reason"] == .string("replaced"), let parent = stack[handle]?.parent {
        replaced[parent] = last[handle]
      }
      (last[handle], origins[handle]) = (nil, nil)
    case "opened":
      guard params["style"] == .string("replace"),
        let parent = params["parent"].flatMap(Handle.init),
        let origin = replaced.removeValue(forKey: parent)
      else { return }
      origins[handle] = origin
    default: break
    }
  }
}

/// The way to the view that was in front, gone again after the daemon was lost.
///
/// It decides what is to be asked next and does nothing.
struct ViewReturn {
  /// A view on the way, as it was.
  private struct Step {
    let view: ViewState
    let origin: ViewTrail.Origin?
  }

  /// What is to be done next.
  enum Next: Equatable {
    case ask(Handle, intent: String, JSONObject)
    /// To be told when everything that is under way has come.
    case sync
    /// What was asked is not answered yet.
    case wait
    /// Nothing more can be done; `isThere` when the way has been gone to its end.
    case end(isThere: Bool)
  }

  /// The views that are open with the new connection.
  private(set) var stack = ViewStack()

  /// The old handle of each view on the way, by its new one, and how it was opened.
  private(set) var old: [Handle: Handle] = [:]
  private(set) var origins: [Handle: ViewTrail.Origin] = [:]

  /// The request whose answer it waits for; `nil` for none.
  var request: Int?

  /// Why what was asked last was refused.
  private(set) var fault: String?

  private let steps: [Step]
  private var place = 0
  private var current: Handle?
  private var hasAsked = false
  private var hasSynchronized = false

  /// - Parameters:
  ///   - path: The views up to the one that was in front, the first one, which `answer` opens again,
  ///     included.
  init(to path: [ViewState], _ trail: ViewTrail, from answer: JSONObject) {
    steps = path.dropFirst().map { Step(view: $0, origin: trail.origins[$0.handle]) }
    stack.open(answer)
    current = stack.front
    if let root = path.first, let current, root.binder == stack[current]?.binder {
      old[current] = root.handle
    }
  }

  mutating func take(_ method: String, _ params: JSONObject) { stack.take(method, params) }

  /// Takes the answer to the request.
  mutating func answer(fault: String?) {
    request = nil
    if hasAsked, !hasSynchronized { self.fault = fault }
  }

  mutating func next() -> Next {
    while place < steps.count {
      let step = steps[place]
      if let view = child(step.view.binder) {
        if step.view.style == "tab" { turn(to: view.handle) }
        old[view.handle] = step.view.handle
        origins[view.handle] = step.origin
        current = view.handle
        place += 1
        (hasAsked, hasSynchronized) = (false, false)
        continue
      }
      if request != nil { return .wait }
      if fault != nil { return .end(isThere: false) }
      if !hasAsked, let origin = step.origin, let view = asked(origin) {
        (hasAsked, hasSynchronized) = (true, false)
        return .ask(view.handle, intent: origin.intent, origin.arguments)
      }
      if hasSynchronized { return .end(isThere: false) }
      hasSynchronized = true
      return .sync
    }
    return .end(isThere: true)
  }

  private func child(_ binder: String) -> ViewState? {
    stack.views.first { $0.parent == current && $0.binder == binder }
  }

  /// The view that is asked for the next one, if it is there and still has the intent.
  private func asked(_ origin: ViewTrail.Origin) -> ViewState? {
    let view =
      origin.replaces
      ? child(origin.binder)
      : current.flatMap { stack[$0] }.flatMap { $0.binder == origin.binder ? $0 : nil }
    return view.flatMap { view in
      view.intents.contains { $0.name == origin.intent } ? view : nil
    }
  }

  private mutating func turn(to tab: Handle) {
    for _ in stack.tabs where !stack.path.contains(where: { $0.handle == tab }) { stack.turn() }
  }
}
