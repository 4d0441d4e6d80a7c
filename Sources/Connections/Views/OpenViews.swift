package import JSON
package import Wire

/// A closed view that is known to the client.
struct ClosedView {
  let handle: Handle
  let reason: String

  /// The error that the client gets instead of the reason.
  var error: WireError?

  /// The handles of its parent and further ancestors.
  let ancestors: [Handle]

  /// The position that must be durable before the client learns of the closing.
  var after: UInt64 = 0
}

/// The open views of one client and their unsent changes.
package final class OpenViews {
  unowned let client: Client

  /// The open views, parents before their children.
  package private(set) var all: [View] = []

  /// The closed views whose closing was not sent yet.
  private var closedViews: [ClosedView] = []

  /// The numbers before the first one that is assigned.
  var skippedNumbers = 0

  /// The views of an earlier daemon that could not be opened again; the client gets an error for
  /// each.
  private var failedViews: [(handle: Handle, error: WireError)] = []

  /// The views that exceeded the limit; the client gets an error for each.
  private var unopenedViews: [(view: View, error: WireError)] = []

  /// Whether the client has left, so that nothing is sent any more.
  private var hasEnded = false

  /// Whether what survives a restart of the daemon has changed.
  var hasChanged = false

  /// The views from an earlier daemon that are not open yet, while they are restored.
  var returning: [ReturningView] = []

  init(of client: Client) {
    self.client = client
  }

  private var limits: Limits { client.limits }
  private var context: ConnectionContext { client.context }

  /// Whether no view is open and the closing of all others was sent.
  var isEmpty: Bool { all.isEmpty && closedViews.isEmpty && failedViews.isEmpty }

  // MARK: Opening and closing

  /// Runs a client's request to a view, and ends the views that it opened if it fails.
  ///
  /// Fails if a view exceeds the limit of views or does not fit a line.
  package func asking<Value>(_ body: () throws -> Value) throws -> Value {
    hasChanged = true
    let known = Set(all.map(ObjectIdentifier.init))
    let failures = unopenedViews.count
    func opened() -> [View] { all.filter { !known.contains(ObjectIdentifier($0)) } }
    do {
      let value = try body()
      if unopenedViews.count > failures, let last = unopenedViews.last { throw last.error }
      for view in opened() {
        if let size = view.excess { throw WireError.viewTooLarge(view, size, max: client.lineOut) }
      }
      return value
    } catch {
      unopenedViews.removeLast(unopenedViews.count - failures)
      for view in opened().reversed() { view.end { _ in } }
      throw error
    }
  }

  /// Opens a view that the client has requested.
  ///
  /// The answer announces it to the client.
  ///
  /// - Parameters:
  ///   - binder: The name of the binder.
  ///   - wish: The requested handle; `nil` for the next number.
  ///   - text: The text of a view that the client has brought.
  ///   - weight: The bytes charged to the user, besides those of any view.
  ///   - bind: Fills the view.
  /// - Throws: ``WireError``: `already_exists` or `limit_reached`, or an error from `bind`.
  package func open(
    _ binder: String, as wish: Handle?, with arguments: JSONText? = nil, text: JSONText? = nil,
    weighing weight: Int = 0,
    _ bind: (View) throws(WireError) -> Void
  ) throws(WireError) -> View {
    let view = View(
      try reserveView(wish), binder, .present, parent: nil, in: self)
    view.delivery.isTold = true
    view.origin = ViewOrigin(arguments: arguments, text: text, weight: weight)
    try checkRoom(for: view)
    if let returning = wish.flatMap(removeReturning) {
      view.origin.isReturning = true
      view.childCount = returning.kept.childCount
    }
    hasChanged = true
    view.delivery.isInBatch = client.afterBatch { view.delivery.isInBatch = false }
    all.append(view)
    client.charge(view.bytes)
    var failure: WireError?
    view.fill { view in
      do throws(WireError) {
        try bind(view)
      } catch {
        failure = error
      }
    }
    if let failure {
      view.end { _ in }
      throw failure
    }
    return view
  }

  /// Checks that the client may have one more view.
  ///
  /// - Throws: ``WireError`` `limit_reached`.
  func checkRoom(for view: View) throws(WireError) {
    guard all.count < limits.views else { throw .limitReached(.views, limits) }
    try client.checkMemory(for: view.bytes)
  }

  private func reserveView(_ wish: Handle?) throws(WireError) -> Handle {
    guard let wish else { return freeViewNumber }
    guard self[wish] == nil else {
      throw WireError(
        .alreadyExists, "there is a view \(wish.text.text) already",
        ["what": .string("view"), "id": wish.text.value])
    }
    return wish
  }

  private var freeViewNumber: Handle {
    var number = skippedNumbers + all.count + 1
    while self[.number(number)] != nil { number += 1 }
    return .number(number)
  }

  /// Returns the handle of the n-th child of a view, for example `v1.2`.
  func childHandle(of parent: Handle, _ n: Int) -> Handle {
    let name =
      switch parent {
      case .name(let name): "\(name).\(n)"
      case .number(let number): "\(number).\(n)"
      }
    guard let handle = Handle(name: name), self[handle] == nil else { return freeViewNumber }
    return handle
  }

  package subscript(handle: Handle) -> View? { all.first { $0.handle == handle } }

  /// Adds a child view, which is announced to the client later.
  func add(_ view: View) {
    all.append(view)
    client.charge(view.bytes)
    view.markDirty()
  }

  /// Records a view that exceeded the limit, so that the client gets an error.
  func addUnopened(_ view: View, _ error: WireError) {
    unopenedViews.append((view, error))
    client.list()
  }

  func remove(_ view: View) {
    hasChanged = true
    guard let i = all.firstIndex(where: { $0 === view }) else { return }
    all.remove(at: i)
    client.charge(-view.bytes)
    client.list()  // the view may have kept the connection open
  }

  /// Records that a view is closed, if the client knows the view.
  func addClosed(_ view: View, _ reason: String, _ error: WireError? = nil) {
    guard view.delivery.isTold, !hasEnded else { return }
    let ancestors = Array(sequence(first: view, next: \.parent).dropFirst().map(\.handle))
    closedViews.append(
      ClosedView(handle: view.handle, reason: reason, error: error, ancestors: ancestors))
    client.list()
  }

  /// Records that views of an earlier daemon could not be opened again.
  func addClosed(_ views: [ClosedView]) {
    closedViews += views
    if !views.isEmpty { client.list() }
  }

  /// Reports that a view of an earlier daemon could not be opened again.
  func fail(_ handle: Handle, _ error: WireError) {
    failedViews.append((handle, error))
    client.list()
  }

  /// Closes a view at the client's request.
  ///
  /// - Returns: The handles of the closed views that the client knows, children before parents.
  package func close(_ view: View) -> [Handle] {
    // Includes descendants that were closed before, so that no frame about them follows.
    var closed = closedViews.filter { $0.ancestors.contains(view.handle) }.map(\.handle)
    closedViews.removeAll { $0.ancestors.contains(view.handle) }
    view.end { if $0.delivery.isTold { closed.append($0.handle) } }
    return closed
  }

  /// Delays the news of views that an intent has opened and closed until the intent's answer is
  /// sent.
  ///
  /// - Parameter position: The position that the answer waits for.
  package func tell(after position: UInt64) {
    guard position > context.position else { return }
    for i in closedViews.indices where closedViews[i].after == 0 {
      closedViews[i].after = position
    }
    for view in all + unopenedViews.map(\.view)
    where !view.delivery.isTold && view.delivery.openedAfter == 0 {
      view.delivery.openedAfter = position
    }
    context.await(client)
  }

  // MARK: Writing

  /// Appends the news of all views: closings, openings and changes.
  ///
  /// - Returns: Whether nothing is left that may be sent now.
  func fill(_ buffer: inout ByteBuffer) -> Bool {
    for (handle, error) in failedViews { write(handle, error, &buffer) }
    failedViews = []
    while let closed = closedViews.first, closed.after <= context.position {
      guard buffer.count < client.chunkSize else { return false }
      closedViews.removeFirst()
      write(closed, &buffer)
    }
    // Writing a view may open others, so the count is read each time.
    var i = 0
    while i < all.count {
      guard buffer.count < client.chunkSize else { return false }
      let view = all[i]
      if view.delivery.isDirty, !view.isHeld, closedViews.isEmpty || view.delivery.isTold {
        tell(view, &buffer)
        if view.delivery.isDirty, view.delivery.hasMore { continue }
      }
      if i < all.count, all[i] === view { i += 1 }
    }
    tellUnopened(&buffer)
    return true
  }

  private func tellUnopened(_ buffer: inout ByteBuffer) {
    unopenedViews.removeAll { view, error in
      guard let parent = view.parent, !parent.isClosed else { return true }
      guard parent.delivery.isTold, !parent.isHeld, view.delivery.openedAfter <= context.position
      else {
        return false
      }
      view.writeUnopened(error, &buffer)
      return true
    }
  }

  private func tell(_ view: View, _ buffer: inout ByteBuffer) {
    guard
      view.delivery.isTold
        || view.delivery.openedAfter <= context.position && view.parent?.delivery.isTold ?? true
    else {
      return
    }
    view.delivery.isDirty = false
    if view.delivery.isTold {
      guard view.writeNext(&buffer, size: client.lineOut) else {
        return fail(view, .viewTooLarge(view, view.newsSize, max: client.lineOut), &buffer)
      }
    } else {
      let start = buffer.count
      view.writeOpened(&buffer, size: client.lineOut)
      let size = buffer.count - start
      guard size <= client.lineOut else {
        buffer.truncate(to: start)
        return fail(view, .viewTooLarge(view, size, max: client.lineOut), &buffer)
      }
      view.delivery.isTold = true
      hasChanged = true
    }
    view.delivery.isDirty = view.hasRest
  }

  /// Ends a view with an error as its last frame.
  private func fail(_ view: View, _ error: WireError, _ buffer: inout ByteBuffer) {
    guard view.delivery.isTold else {
      view.end { _ in }
      return view.writeUnopened(error, &buffer)
    }
    for child in view.children.reversed() { child.close("failed") }
    while let closed = closedViews.first, closed.after <= context.position {
      closedViews.removeFirst()
      write(closed, &buffer)
    }
    view.end { _ in }
    write(view.handle, error, &buffer)
  }

  private func write(_ handle: Handle, _ error: WireError, _ buffer: inout ByteBuffer) {
    Frame.notification("fail", &buffer) {
      $0.member("view", handle)
      $0.member("seq", context.position)
      $0.member("error", error)
    }
  }

  private func write(_ closed: ClosedView, _ buffer: inout ByteBuffer) {
    if let error = closed.error { return write(closed.handle, error, &buffer) }
    Frame.notification("closed", &buffer) {
      $0.member("view", closed.handle)
      $0.member("seq", context.position)
      $0.member("reason", closed.reason)
    }
  }

  /// Ends all views after the client has left.
  func endAll() {
    hasEnded = true
    (closedViews, unopenedViews) = ([], [])
    while let root = all.last(where: { $0.parent == nil }) { root.end { _ in } }
  }
}

extension View {
  /// The length of the view's first frame if it is too long for the client; otherwise `nil`.
  fileprivate var excess: Int? {
    var buffer = ByteBuffer()
    writeOpened(&buffer, size: client.lineOut)
    delivery.hasMore = false
    return buffer.count > client.lineOut ? buffer.count : nil
  }
}

extension WireError {
  /// Creates an error for a view whose content other than list elements does not fit a line.
  fileprivate static func viewTooLarge(_ view: View, _ size: Int, max: Int) -> WireError {
    .resultTooLarge(size, max: max, of: "the view '\(view.binder)'")
  }
}
