import Console
import JSON
import Wire

/// A user at a terminal with views, without a daemon.
struct ShownView {
  var session = ViewSession()
  var (width, height) = (80, 24)

  /// The last requested action.
  private var action: ViewSession.Action?

  /// Opens the first view.
  init(_ binder: String, props: String, intents: String = "") throws {
    try open(binder, props: props, intents: intents)
  }

  @discardableResult
  mutating func open(
    _ binder: String, props: String, intents: String = ""
  ) throws -> ViewSession.Action? {
    session.open(try contents("v", binder, props, intents))
  }

  /// Opens a view from another one, by default from the first.
  mutating func push(
    _ binder: String, style: String = "push", props: String, intents: String = "",
    as handle: String = "v.1", from parent: String = "v"
  ) throws {
    var params = try contents(handle, binder, props, intents)
    params["parent"] = .string(parent)
    params["style"] = .string(style)
    try session.receive("opened", params)
  }

  /// Changes properties of the first view.
  mutating func change(_ props: String) throws {
    try session.receive(
      "next", ["view": .string("v"), "props": try JSONValue(parsing: "{\(props)}")])
  }

  private func contents(
    _ view: String, _ binder: String, _ props: String, _ intents: String
  ) throws -> JSONObject {
    [
      "view": .string(view), "binder": .string(binder), "seq": .number(JSONNumber(1)),
      "props": try JSONValue(parsing: "{\(props)}"),
      "intents": try JSONValue(parsing: "{\(intents)}"),
    ]
  }

  /// Ends a view, as the daemon does.
  mutating func end(_ view: String, _ reason: String = "dismissed") {
    try? session.receive("closed", ["view": .string(view), "reason": .string(reason)])
  }

  // MARK: Looking and typing

  /// The lines of the screen, without trailing spaces.
  var screen: [String] {
    ViewScreen(Style(isOn: false), width: width, height: height).lines(session).map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// Returns the first line with a prefix, or `nil`.
  func line(_ name: String) -> String? { screen.first { $0.hasPrefix(name) } }

  /// Presses keys in order, and returns the requested actions.
  @discardableResult
  mutating func press(_ keys: Key...) -> [ViewSession.Action] { keys.compactMap { press($0) } }

  @discardableResult
  mutating func type(_ text: String) -> [ViewSession.Action] {
    text.compactMap { press(.character($0)) }
  }

  private mutating func press(_ key: Key) -> ViewSession.Action? {
    let action = session.press(key)
    if let action { self.action = action }
    ViewScreen(Style(isOn: false), width: width, height: height).limitScroll(&session)
    return action
  }

  /// Sends the last requested action.
  mutating func send(as request: Int) {
    if let action { session.send(action, as: request) }
  }

  /// Returns the action that requests an intent of a view.
  static func ask(
    _ intent: String, _ arguments: JSONObject, of view: String = "v"
  ) -> ViewSession.Action {
    .ask(.name(view), intent: intent, arguments)
  }
}
