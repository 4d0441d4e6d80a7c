internal import JSON
internal import Model
internal import Wire

/// A record of how the views were opened, to reopen them after a reconnection.
struct ViewTrail {
  /// The intent that opened a view.
  struct Origin: Equatable {
    /// The binder of the view with the intent.
    let binder: String
    let intent: String
    let arguments: JSONObject

    /// Whether the new view replaced that view, as after a login; otherwise it is a child.
    let replaces: Bool
  }

  private struct Asked {
    let view: Handle
    let origin: Origin

    /// Whether repeating it only opens a view, without side effects.
    let isRepeatable: Bool
  }

  private var asked: [Int: Asked] = [:]

  /// The last intent sent to each view, unless refused.
  private var last: [Handle: Origin] = [:]

  /// The last intent of a replaced view, by its parent.
  private var replaced: [Handle: Origin] = [:]

  /// The origin of each view; absent for views that the daemon opened unasked.
  private(set) var origins: [Handle: Origin] = [:]

  /// Creates a trail for views that were just reopened.
  init(_ origins: [Handle: Origin] = [:]) {
    self.origins = origins
  }

  /// Records an intent that is sent.
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

  /// Handles the reply to an intent.
  mutating func answer(_ request: Int, isRefused: Bool, opened: Handle?) {
    guard let asked = asked.removeValue(forKey: request) else { return }
    if isRefused { last[asked.view] = nil }
    if !isRefused, asked.isRepeatable, let opened { origins[opened] = asked.origin }
  }

  /// Handles a notification.
  ///
  /// - Parameter stack: The views before the notification.
  mutating func receive(_ method: String, _ params: JSONObject, _ stack: ViewStack) {
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

/// The steps to reopen the former front view after a reconnection.
///
/// It decides the next request, but has no side effects.
struct ViewReturn {
  /// A view to reopen, in its former state.
  private struct Step {
    let view: ViewState
    let origin: ViewTrail.Origin?
  }

  /// The next step.
  enum Next: Equatable {
    case ask(Handle, intent: String, JSONObject)
    /// Waits until all pending messages have arrived.
    case sync
    /// A reply is still pending.
    case wait
    /// The end; `isThere` is true if all views were reopened.
    case end(isThere: Bool)
  }

  /// The views of the new connection.
  private(set) var stack = ViewStack()

  /// The former handles and the origins of reopened views, by their new handles.
  private(set) var old: [Handle: Handle] = [:]
  private(set) var origins: [Handle: ViewTrail.Origin] = [:]

  /// The pending request; `nil` for none.
  var request: Int?

  /// The reason why the last request was refused.
  private(set) var fault: String?

  private let steps: [Step]
  private var place = 0
  private var current: Handle?
  private var hasAsked = false
  private var hasSynchronized = false

  /// - Parameters:
  ///   - path: The former views from the root, which `answer` opens, to the front view.
  init(to path: [ViewState], _ trail: ViewTrail, from answer: JSONObject) {
    steps = path.dropFirst().map { Step(view: $0, origin: trail.origins[$0.handle]) }
    stack.open(answer)
    current = stack.front
    if let root = path.first, let current, root.binder == stack[current]?.binder {
      old[current] = root.handle
    }
  }

  mutating func receive(
    _ method: String, _ params: JSONObject
  ) throws(CollectionChange.Fault) { try stack.receive(method, params) }

  /// Handles the reply to the request.
  mutating func answer(fault: String?) {
    request = nil
    if hasAsked, !hasSynchronized { self.fault = fault }
  }

  mutating func next() -> Next {
    while place < steps.count {
      let step = steps[place]
      if let view = child(step.view.binder, step.view.label) {
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

  /// Returns a child of the present view; of tabs with the same binder, the one with a label.
  private func child(_ binder: String, _ label: String? = nil) -> ViewState? {
    let all = stack.views.filter { $0.parent == current && $0.binder == binder }
    return all.first { $0.label == label } ?? all.first
  }

  /// Returns the view that can open the next one, if it exists and still has the intent.
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
