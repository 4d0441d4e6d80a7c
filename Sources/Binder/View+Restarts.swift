internal import API
internal import Connections
internal import JSON

// What a view keeps over a restart of the daemon, which its client does not notice.
extension View {
  /// Keeps a value of the view, for example what was searched, over a restart of the daemon.
  ///
  ///     view.remember("term", { term.value }, restore: { term.value = $0 })
  ///
  /// - Parameters:
  ///   - name: The name of the value within the view.
  ///   - value: Returns the value; called after each intent of the client.
  ///   - restore: Sets it again, after the view was filled again.
  public func remember<Value: Codable>(
    _ name: String, _ value: @escaping () -> Value, restore: @escaping (Value) -> Void
  ) {
    engine?.remember(name, { (try? JSONEncoder().text(value())) ?? .null }) { text in
      if let value: Value = try? JSONDecoder().decode(from: text) { restore(value) }
    }
  }

  /// Opens another view, which a function fills.
  ///
  /// The client learns of it after the answer to its intent.
  ///
  /// - Parameters:
  ///   - name: The name that clients see.
  ///   - origin: What ``reopens(_:_:)`` needs to open it again.
  ///   - fill: Fills the view. It is not called if the client has too many views.
  public func open(
    _ name: String, as style: Style = .push, with origin: some Encodable,
    fill: (View) -> Void
  ) {
    engine?.open(name, as: style.engine, with: try? JSONEncoder().text(origin)) {
      fill(View($0, context))
    }
  }

  /// Declares how a view that ``open(_:as:with:fill:)`` has opened is opened again after a restart of
  /// the daemon.
  ///
  /// - Parameters:
  ///   - name: The name of the view that was opened.
  ///   - open: Gets what it was opened with, and opens it.
  public func reopens<Origin: Decodable>(_ name: String, _ open: @escaping (Origin) -> Void) {
    engine?.reopens(name) { text in
      if let origin: Origin = try? JSONDecoder().decode(from: text) { open(origin) }
    }
  }
}
