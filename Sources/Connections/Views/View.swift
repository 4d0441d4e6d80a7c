internal import JSON
package import Signals
package import Wire

/// A surface that a client shows: properties that a binder sets, intents that come back.
///
/// It knows no service. A binder fills it once; what it has bound lives in its bag and ends with
/// it. Its children end before it.
package final class View: DisposeBagProvider {
  /// How a child stands to its parent.
  package enum Style: String, Sendable {
    /// One deeper, with a way back.
    case push
    /// Above, until it is dismissed.
    case present
    /// Beside its siblings.
    case tab
    /// In the place of the one before.
    case replace
  }

  package let handle: Handle

  /// The name of the binder that has filled it.
  package let binder: String

  package unowned let connection: Connection
  package private(set) weak var parent: View?
  package let style: Style

  /// Everything that lives as long as the view.
  package private(set) lazy var bag = DisposeBag()

  /// The views that were opened from this one and are open, in order.
  package private(set) var children: [View] = []
  package private(set) var isClosed = false

  private(set) var properties: [String: ViewProperty] = [:]
  private(set) var intents: [String: ViewIntent] = [:]

  /// Collects what the binder says, while it does.
  private var lines: Assembly?
  private var childCount = 0
  private let live = LiveNode("View")

  // What the connection has told of it.
  var isDirty = false
  var isTold = false

  /// Whether the client was told only a part of what there is to tell, and the rest follows.
  var hasMore = false

  /// Whether the batch that has opened it is not answered.
  var isInBatch = false

  /// Whether nothing may be told of it yet, nor of what it has opened.
  var isHeld: Bool { isInBatch || parent?.isHeld == true }

  /// What must be durable before the client hears that it is open.
  var openedAfter: UInt64 = 0

  init(
    _ handle: Handle, _ binder: String, _ style: Style, parent: View?, on connection: Connection
  ) {
    (self.handle, self.binder, self.style) = (handle, binder, style)
    (self.parent, self.connection) = (parent, connection)
  }

  // MARK: For binders

  /// The property of a name; the client sees it from then on.
  package subscript(name: String) -> ViewProperty {
    if let property = properties[name] { return property }
    let property = ViewProperty(self)
    properties[name] = property
    return property
  }

  /// Sets a property to what is known when the binder runs.
  package func assign(_ name: String, _ value: some Encodable) {
    let property = self[name]
    assign { property.set(value) }
  }

  /// The intent of a name that takes nothing; the client may have it from then on.
  package func intent(_ name: String) -> Intent<NoParameters> { intent(name, NoParameters.self) }

  /// The intent of a name that takes arguments: a type whose members are their names.
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

  /// Opens a view from this one; the client hears of it behind the answer to its intent.
  ///
  /// With the style ``Style/replace`` the one before of that style is closed.
  ///
  /// - Returns: `nil` when this view is closed, or the client has as many views as it may: then that
  ///   is what it is told, or its intent is refused.
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

  /// Shows views beside each other, in this order, from when the binder is through.
  package func tabs(_ tabs: (binder: String, bind: (View) -> Void)...) {
    bind { [weak self] in
      for tab in tabs { self?.open(tab.binder, as: .tab, tab.bind) }
    }
  }

  /// Closes the view because what it was opened for is done.
  package func dismiss() { close("dismissed") }

  // MARK: For the client

  /// The intent of a name; `nil` when there is none.
  package func intent(named name: String) -> ViewIntent? { intents[name] }

  package var intentNames: some Sequence<String> { intents.keys }

  // MARK: Lines of a binder

  /// Lets a binder fill the view: whatever the order of its lines, they are taken in the same.
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

  /// Closes the view, its children first; the client is told of each that it knows.
  package func close(_ reason: String) {
    guard !isClosed else { return }
    end { connection.note(closed: $0, reason) }
  }

  /// Lets everything go, the children's first.
  ///
  /// - Parameter each: Called with each view when it has ended, children before parents.
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

  /// Notes that there is something to tell.
  func markDirty() {
    guard !isDirty, !isClosed else { return }
    isDirty = true
    connection.hub.list(connection)
  }
}
