internal import JSON
package import Signals
package import Wire

/// A view on a client's screen: properties that a binder sets, and intents that the client sends.
///
/// It depends on no service. A binder fills it once; its bindings live in the bag and end with the
/// view. Its children end before it.
package final class View: DisposeBagProvider {
  /// The presentation of a child view.
  package enum Style: String, Sendable {
    /// One level deeper, with navigation back.
    case push
    /// On top of the parent, until it is dismissed.
    case present
    /// Beside its siblings, as a tab.
    case tab
    /// In place of the previous child of this style.
    case replace
  }

  package let handle: Handle

  /// The name of the binder that filled the view.
  package let binder: String

  package unowned let connection: Connection
  package private(set) weak var parent: View?
  package let style: Style

  /// Disposables that end with the view.
  package private(set) lazy var bag = DisposeBag()

  /// The open views that were opened from this one, in order.
  package private(set) var children: [View] = []
  package private(set) var isClosed = false

  private(set) var properties: [String: ViewProperty] = [:]
  private(set) var intents: [String: ViewIntent] = [:]

  /// Collects the binder's lines while it runs.
  private var lines: Assembly?
  private var childCount = 0
  private let live = LiveNode("View")

  // The state of what the connection has sent about the view.
  var isDirty = false
  var isTold = false

  /// Whether the client was promised more frames.
  var hasMore = false

  /// Whether the batch that opened the view is still unanswered.
  var isInBatch = false

  /// Whether frames about the view and its descendants must wait.
  var isHeld: Bool { isInBatch || parent?.isHeld == true }

  /// The position that must be durable before the client learns that the view is open.
  var openedAfter: UInt64 = 0

  init(
    _ handle: Handle, _ binder: String, _ style: Style, parent: View?, on connection: Connection
  ) {
    (self.handle, self.binder, self.style) = (handle, binder, style)
    (self.parent, self.connection) = (parent, connection)
  }

  // MARK: For binders

  /// The property with a name; created on first use and then shown to the client.
  package subscript(name: String) -> ViewProperty {
    if let property = properties[name] { return property }
    let property = ViewProperty(self)
    properties[name] = property
    return property
  }

  /// Sets a property to a value that is known when the binder runs.
  package func assign(_ name: String, _ value: some Encodable) {
    let property = self[name]
    assign { property.set(value) }
  }

  /// Returns the intent with a name and without parameters; created on first use.
  package func intent(_ name: String) -> Intent<NoParameters> { intent(name, NoParameters.self) }

  /// Returns the intent with a name; created on first use.
  ///
  /// The members of `Arguments` are the intent's parameters. Traps if the intent has other
  /// arguments.
  package func intent<Arguments: Decodable>(
    _ name: String, _ arguments: Arguments.Type
  ) -> Intent<Arguments> {
    let intent = intents[name] ?? ViewIntent(name, Intent<Arguments>(on: self))
    intents[name] = intent
    guard let typed = intent.typed as? Intent<Arguments> else {
      preconditionFailure("the intent \\(name) of \\(binder) takes two kinds of arguments")
    }
    return typed
  }

  /// Opens a child view.
  ///
  /// The client learns of it after the answer to its intent.
  ///
  /// A child with the style ``Style/replace`` closes the previous child of that style.
  ///
  /// - Returns: `nil` if this view is closed or the client has too many views. In the latter case
  ///   the client gets an error or its intent is refused.
  @discardableResult
  package func open(
    _ binder: String, as style: Style, _ bind: (View) -> Void
  ) -> View? {
    guard !isClosed else { return nil }
    if style == .replace {
      for child in children where child.style == .replace { child.close("replaced") }
    }
    childCount += 1
    let child = View(
      connection.childHandle(of: handle, childCount), binder, style, parent: self, on: connection)
    guard connection.views.count < connection.limits.views else {
      connection.note(unopened: child)
      return nil
    }
    children.append(child)
    connection.add(child)
    child.fill(bind)
    return child
  }

  /// Opens views as tabs, in this order, after the binder has finished.
  package func tabs(_ tabs: (binder: String, bind: (View) -> Void)...) {
    bind { [weak self] in
      for tab in tabs { self?.open(tab.binder, as: .tab, tab.bind) }
    }
  }

  /// Closes the view because its purpose is fulfilled.
  package func dismiss() { close("dismissed") }

  // MARK: For the client

  /// Returns the intent with a name; `nil` if there is none.
  package func intent(named name: String) -> ViewIntent? { intents[name] }

  package var intentNames: some Sequence<String> { intents.keys }

  // MARK: Lines of a binder

  /// Lets a binder fill the view.
  ///
  /// Its lines are applied in a fixed order, however they are written.
  func fill(_ bind: (View) -> Void) {
    Assembly.take(order: connection.hub.lineOrder) { lines in
      self.lines = lines
      bind(self)
      self.lines = nil
    }
  }

  func assign(_ line: @escaping () -> Void) {
    if let lines { lines.assign(line) } else { line() }
  }

  func bind(_ line: @escaping () -> Void) {
    if let lines { lines.bind(line) } else { line() }
  }

  // MARK: Ending

  /// Closes the view, its children first, and notifies the client of each view that it knows.
  package func close(_ reason: String) {
    guard !isClosed else { return }
    end { connection.note(closed: $0, reason) }
  }

  /// Ends the view and releases its resources, those of its children first.
  ///
  /// - Parameter each: Called with each ended view, children before parents.
  func end(_ each: (View) -> Void) {
    guard !isClosed else { return }
    isClosed = true
    for child in children.reversed() { child.end(each) }
    children = []
    bag.dispose()
    intents = [:]
    parent?.children.removeAll { $0 === self }
    connection.remove(self)
    each(self)
  }

  /// Marks the view as having something to send.
  func markDirty() {
    guard !isDirty, !isClosed else { return }
    isDirty = true
    connection.hub.list(connection)
  }
}
