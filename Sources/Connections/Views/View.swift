package import JSON
package import Signals
package import Wire

/// A view on a client's screen: properties that a binder sets, and intents that the client sends.
///
/// It depends on no service. A binder fills it once; its bindings live in the bag and end with the
/// view. Its children end before it.
///
/// ```swift
/// chores.all.bind(to: view["chores"], as: ChoreRow.self)
/// view.intent("add", AddChore.self).calls { try chores.add(title: $0.title) }.main()
/// view.intent("finish", FinishChore.self).calls { try chores.finish($0.id) }
/// ```
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

  /// The views of the client.
  unowned let views: OpenViews
  package private(set) weak var parent: View?
  package let style: Style

  /// Disposables that end with the view.
  package private(set) lazy var bag = DisposeBag()

  /// The open views that were opened from this one, in order.
  package private(set) var children: [View] = []
  package private(set) var isClosed = false

  private(set) var properties = ViewParts<ViewProperty>()
  private(set) var intents = ViewParts<ViewIntent>()

  /// Collects the binder's lines while it runs.
  private var lines: Assembly?
  var childCount = 0

  /// The way in which the view was opened.
  package internal(set) var origin = ViewOrigin()

  /// The bytes charged to the user while the view is open.
  var bytes: Int { ItemBytes.view + origin.bytes }

  /// The ways to bring the view back after a restart of the daemon, set by its binder.
  var restart = ViewRestart()
  private let live = LiveNode("View")

  var delivery = ViewDelivery()

  /// Whether some content that is there did not fit into the last frame.
  var hasRest: Bool { properties.contains { $0.part.content.isNew } }

  /// Whether more frames follow, because of content that did not fit or is not there yet.
  private var expectsMore: Bool {
    properties.contains { $0.part.content.isNew || $0.part.content.isGrowing }
  }

  /// Whether frames about the view and its descendants must wait.
  var isHeld: Bool { delivery.isInBatch || parent?.isHeld == true }

  init(
    _ handle: Handle, _ binder: String, _ style: Style, parent: View?, in views: OpenViews
  ) {
    (self.handle, self.binder, self.style) = (handle, binder, style)
    (self.parent, self.views) = (parent, views)
  }

  /// The client that sees the view.
  var client: Client { views.client }

  // MARK: For binders

  /// The property with a name; created on first use and then shown to the client.
  ///
  /// Clients show the properties in the order of their first use.
  package subscript(name: String) -> ViewProperty {
    if let property = properties[name] { return property }
    let property = ViewProperty(self)
    properties.append(property, named: name)
    return property
  }

  /// Whether there is a property with a name.
  package func has(_ name: String) -> Bool { properties[name] != nil }

  /// Sets a property to a value that is known when the binder runs.
  package func assign(_ name: String, _ value: some Encodable) {
    let property = self[name]
    assign { property.set(value) }
  }

  /// Returns the intent with a name and without parameters; created on first use.
  package func intent(_ name: String) -> Intent<NoParameters> { intent(name, NoParameters.self) }

  /// Returns the intent with a name; created on first use.
  ///
  /// Clients offer the intents in the order of their first use. The members of `Arguments` are the intent's parameters. Traps if the intent has other
  /// arguments.
  package func intent<Arguments: Decodable>(
    _ name: String, _ arguments: Arguments.Type
  ) -> Intent<Arguments> {
    intent(name, arguments, Shape(of: Arguments.self))
  }

  /// Returns an intent whose parameters are known only when the binder runs.
  ///
  /// - Parameter shape: An object with the parameters. Only their names are checked.
  package func intent(_ name: String, taking shape: Shape) -> Intent<JSONText> {
    intent(name, JSONText.self, shape)
  }

  private func intent<Arguments: Decodable>(
    _ name: String, _ arguments: Arguments.Type, _ shape: Shape
  ) -> Intent<Arguments> {
    let known = intents[name]
    let intent = known ?? ViewIntent(name, shape, Intent<Arguments>(on: self))
    if known == nil { intents.append(intent, named: name) }
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
  /// - Parameters:
  ///   - arguments: What ``reopens(_:_:)`` needs to open it again after a restart; `nil` if the view
  ///     opens it by itself.
  ///   - weight: The bytes charged to the user, besides those of any view.
  /// - Returns: `nil` if this view is closed or the client has too many views. In the latter case
  ///   the client gets an error or its intent is refused.
  @discardableResult
  package func open(
    _ binder: String, as style: Style, titled title: String? = nil,
    with arguments: JSONText? = nil, weighing weight: Int = 0, _ bind: (View) -> Void
  ) -> View? {
    guard !isClosed else { return nil }
    if style == .replace {
      for child in children where child.style == .replace { child.close("replaced") }
    }
    let returning = views.removeReturning(binder, of: self)
    if returning == nil { childCount += 1 }
    let child = View(
      returning?.handle ?? views.childHandle(of: handle, childCount), binder, style, parent: self,
      in: views)
    child.origin = ViewOrigin(
      title: title, arguments: arguments, weight: weight, isReturning: returning != nil)
    child.delivery.isTold = returning != nil
    child.childCount = returning?.kept.childCount ?? 0
    do throws(WireError) {
      try views.checkRoom(for: child)
    } catch {
      views.addUnopened(child, error)
      return nil
    }
    children.append(child)
    views.add(child)
    child.fill(bind)
    return child
  }

  /// Opens views as tabs, in this order, after the binder has finished.
  package func tabs(_ tabs: (binder: String, bind: (View) -> Void)...) {
    self.tabs(tabs.map { Tab($0.binder, $0.bind) })
  }

  /// Opens views as tabs, in this order, after the binder has finished.
  package func tabs(_ tabs: [Tab]) {
    bind { [weak self] in
      for tab in tabs {
        self?.open(tab.binder, as: .tab, titled: tab.title, weighing: tab.weight, tab.bind)
      }
    }
  }

  /// A view that is opened as a tab.
  package struct Tab {
    fileprivate let binder: String
    fileprivate let title: String?
    fileprivate let weight: Int
    fileprivate let bind: (View) -> Void

    /// - Parameters:
    ///   - title: The text of the tab; `nil` for the name of the binder.
    ///   - weight: The bytes charged to the user, besides those of any view.
    package init(
      _ binder: String, titled title: String? = nil, weighing weight: Int = 0,
      _ bind: @escaping (View) -> Void
    ) {
      (self.binder, self.title, self.weight, self.bind) = (binder, title, weight, bind)
    }
  }

  /// Ends the view with an error as its last frame, its children before it.
  package func fail(_ error: WireError) {
    guard !isClosed else { return }
    for child in children.reversed() { child.close("failed") }
    end { views.addClosed($0, "failed", error) }
  }

  /// Closes the view because its purpose is fulfilled.
  package func dismiss() { close("dismissed") }

  // MARK: For the client

  /// Returns the intent with a name; `nil` if there is none.
  package func intent(named name: String) -> ViewIntent? { intents[name] }

  package var intentNames: some Sequence<String> { intents.lazy.map(\.name) }

  // MARK: Lines of a binder

  /// Lets a binder fill the view.
  ///
  /// Its lines are applied in a fixed order, however they are written.
  func fill(_ bind: (View) -> Void) {
    Assembly.run(order: client.context.views.lineOrder) { lines in
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
    end { views.addClosed($0, reason) }
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
    intents.removeAll()
    restart = ViewRestart()
    parent?.children.removeAll { $0 === self }
    views.remove(self)
    each(self)
  }

  /// Marks the view as having something to send.
  func markDirty() {
    guard !delivery.isDirty, !isClosed else { return }
    delivery.isDirty = true
    client.list()
  }
}

// The frames about a view.
extension View {
  /// The bytes of `,"more":true}}` and LF.
  private static let endBytes = 15

  /// The most bytes of list elements in a frame, apart from a first element that is longer.
  ///
  /// A client may accept lines of many megabytes. To write one would take longer than a turn may.
  static let listBytes = 256 << 10

  /// Appends the result of `open`: the view with its properties and its intents.
  ///
  /// - Parameter size: The most bytes to write. List elements that do not fit follow later.
  package func writeAnswer(_ buffer: inout ByteBuffer, size: Int = .max) {
    let end = size == .max ? Int.max : buffer.count + size
    buffer.object {
      $0.member("view", handle)
      $0.member("binder", binder)
      $0.member("seq", client.context.position)
      writeContents(&$0, upTo: end)
    }
    delivery.isDirty = false
    if hasRest { markDirty() }
  }

  /// Appends the notification that the view was opened from another one.
  ///
  /// - Parameter size: The most bytes to write. List elements that do not fit follow later.
  func writeOpened(_ buffer: inout ByteBuffer, size: Int) {
    let end = buffer.count + size
    begin("opened", &buffer)
    writePlace(&buffer)
    buffer.member("style", style.rawValue)
    buffer.member("title", origin.title)
    writeContents(&buffer, upTo: end)
    Frame.endParams(&buffer)
  }

  /// Appends the notification that the view could not be opened from another one.
  func writeUnopened(_ error: WireError, _ buffer: inout ByteBuffer) {
    begin("fail", &buffer)
    writePlace(&buffer)
    buffer.member("error", error)
    Frame.endParams(&buffer)
  }

  private func writePlace(_ buffer: inout ByteBuffer) {
    buffer.member("parent", parent?.handle)
    buffer.member("binder", binder)
  }

  /// Appends one frame with the changed properties, as many as fit.
  ///
  /// - Parameter size: The most bytes of the frame.
  /// - Returns: Whether something was written or nothing was left to write.
  func writeNext(_ buffer: inout ByteBuffer, size: Int) -> Bool {
    let changed = properties.filter { $0.part.hasNews() }
    guard !changed.isEmpty || delivery.hasMore else { return true }
    let start = buffer.count
    begin("next", &buffer)
    var (isEmpty, hasRoom) = (true, true)
    buffer.object("props") { buffer in
      for (name, property) in changed {
        // Reserves two commas, the quotes of the ASCII name, the colon and the braces.
        var room = start + size - Self.endBytes - buffer.count - name.utf8.count - 8
        // What does not fit is the first of the next frame.
        if !isEmpty { room = min(room, start + Self.listBytes - buffer.count) }
        var members = ByteBuffer()
        guard property.writeNews(to: &members, upTo: room) else {
          hasRoom = false
          continue
        }
        guard !members.isEmpty else { continue }
        isEmpty = false
        buffer.key(quoted: name)
        buffer.object { $0.append(members) }
      }
    }
    let expectsMore = expectsMore
    // A client that was promised more gets a frame when nothing is left.
    guard !isEmpty || hasRoom && delivery.hasMore && !expectsMore else {
      buffer.truncate(to: start)
      return hasRoom
    }
    delivery.hasMore = expectsMore
    if delivery.hasMore { buffer.member("more", true) }
    Frame.endParams(&buffer)
    return true
  }

  /// The length of a frame with all changes, in bytes.
  var newsSize: Int {
    var buffer = ByteBuffer()
    buffer.append(UInt8(ascii: "{"))
    for (_, property) in properties where property.content.isNew {
      var content = property.content
      _ = content.writeNews(to: &buffer, upTo: .max)
    }
    return buffer.count
  }

  private func begin(_ method: StaticString, _ buffer: inout ByteBuffer) {
    Frame.beginNotification(method, &buffer)
    buffer.member("view", handle)
    buffer.member("seq", client.context.position)
  }

  /// Appends all properties and intents, with as many list elements as fit.
  private func writeContents(_ buffer: inout ByteBuffer, upTo end: Int) {
    let start = buffer.count
    // Limits the lists to the room in the line, however long they are.
    var room = end == .max ? .max : max(0, min(end - start, Self.listBytes))
    writeContents(&buffer, room: &room)
    delivery.hasMore = expectsMore
    guard buffer.count + Self.endBytes > end else {
      if delivery.hasMore { buffer.member("more", true) }
      return
    }
    buffer.truncate(to: start)
    room = 0
    writeContents(&buffer, room: &room)
    let rest = min(end - Self.endBytes - buffer.count, Self.listBytes)
    if rest > 0 {
      buffer.truncate(to: start)
      room = rest
      writeContents(&buffer, room: &room)
    }
    delivery.hasMore = expectsMore
    if delivery.hasMore { buffer.member("more", true) }
  }

  private func writeContents(_ buffer: inout ByteBuffer, room: inout Int) {
    writeObject("props", properties, &buffer) { $0.writeWhole(to: &$1, room: &room) }
    writeObject("intents", intents, &buffer) { $0.write(to: &$1) }
  }

  /// Appends an object as a member, with its members in order of declaration.
  private func writeObject<Part>(
    _ name: StaticString, _ parts: ViewParts<Part>, _ buffer: inout ByteBuffer,
    _ write: (Part, inout ByteBuffer) -> Void
  ) {
    buffer.object(name) {
      for (name, part) in parts {
        $0.key(quoted: name)
        write(part, &$0)
      }
    }
  }
}

extension ViewIntent {
  /// Appends the parameters of the intent and its flags.
  fileprivate func write(to buffer: inout ByteBuffer) {
    buffer.object {
      $0.object("params") {
        for member in shape.members {
          $0.key(quoted: member.name)
          $0.append(quoted: member.shape.name + (member.isOptional ? "?" : ""))
        }
      }
      $0.member("opens", opens)
      $0.member("main", isMain ? true : nil)
      if let condition {
        $0.member((condition.isMet ? "when" : "unless") as StaticString, condition.property)
      }
      if let rowCondition {
        $0.member(
          (rowCondition.isMet ? "when_row" : "unless_row") as StaticString, rowCondition.member)
      }
      $0.member("live", isLive ? true : nil)
      $0.member("destructive", isDestructive ? true : nil)
      $0.member("answers", isAnswer ? true : nil)
      switch rows {
      case .of(let name)?: $0.member("list", name)
      case .noList?: $0.member("rowless", true)
      case nil: break
      }
      guard !fields.isEmpty else { return }
      $0.object("fields") {
        for (name, field) in fields {
          $0.key(quoted: name)
          field.write(to: &$0)
        }
      }
    }
  }
}

/// The state of the frames about a view.
struct ViewDelivery {
  /// Whether the view has changed since the last frame.
  var isDirty = false

  /// Whether the client knows that the view is open.
  var isTold = false

  /// Whether the client was promised more frames.
  var hasMore = false

  /// Whether the batch that opened the view is still unanswered.
  var isInBatch = false

  /// The position that must be durable before the client learns that the view is open.
  var openedAfter: UInt64 = 0
}
