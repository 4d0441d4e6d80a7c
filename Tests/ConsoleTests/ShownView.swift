import Console
import JSON
import Wire

/// Somebody at a terminal before whom views are opened, without a daemon.
struct ShownView {
  var session = ViewSession()
  var (width, height) = (80, 24)

  /// What was asked for last.
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

  /// Opens a view from another one, left out the first.
  mutating func push(
    _ binder: String, style: String = "push", props: String, intents: String = "",
    as handle: String = "v.1", from parent: String = "v"
  ) throws {
    var params = try contents(handle, binder, props, intents)
    params["parent"] = .string(parent)
    params["style"] = .string(style)
    session.take("opened", params)
  }

  /// Changes properties of the first view.
  mutating func change(_ props: String) throws {
    session.take("next", ["view": .string("v"), "props": try JSONValue(parsing: "{\(props)}")])
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

  /// Ends a view by itself.
  mutating func end(_ view: String, _ reason: String = "dismissed") {
    session.take("closed", ["view": .string(view), "reason": .string(reason)])
  }

  // MARK: Looking and typing

  /// What is on the screen, without spaces at the ends of its lines.
  var screen: [String] {
    ViewScreen(Style(isOn: false), width: width, height: height).lines(session).map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The line that a name begins, without that name.
  func line(_ name: String) -> String? { screen.first { $0.hasPrefix(name) } }

  /// Presses keys one after the other, and tells what is asked for.
  @discardableResult
  mutating func press(_ keys: Key...) -> [ViewSession.Action] { keys.compactMap { press($0) } }

  @discardableResult
  mutating func type(_ text: String) -> [ViewSession.Action] {
    text.compactMap { press(.character($0)) }
  }

  private mutating func press(_ key: Key) -> ViewSession.Action? {
    let action = session.press(key)
    if let action { self.action = action }
    ViewScreen(Style(isOn: false), width: width, height: height).settle(&session)
    return action
  }

  /// Sends what was asked for last.
  mutating func send(as request: Int) {
    if let action { session.send(action, as: request) }
  }

  /// That an intent of a view is asked.
  static func ask(
    _ intent: String, _ arguments: JSONObject, of view: String = "v"
  ) -> ViewSession.Action {
    .ask(.name(view), intent: intent, arguments)
  }
}
