internal import JSON
package import Wire

/// A view that the client knows is closed.
struct ClosedView {
  let handle: Handle
  let reason: String

  /// The views that it was opened from.
  let ancestors: [Handle]

  /// What must be durable before the client hears of it.
  var after: UInt64 = 0
}

extension Connection {
  // MARK: Opening and closing

  /// Runs what a client asks of a view: the views that it opens stay when it succeeds, and all of
  /// them are open and fit into a line.
  package func asking<Value>(_ body: () throws -> Value) throws -> Value {
    let known = Set(views.map(ObjectIdentifier.init))
    let failures = unopenedViews.count
    func opened() -> [View] { views.filter { !known.contains(ObjectIdentifier($0)) } }
    do {
      let value = try body()
      if unopenedViews.count > failures { throw WireError.limitReached(.views, limits) }
      for view in opened() {
        if let size = view.excess { throw WireError.viewTooLarge(view, size, max: lineOut) }
      }
      return value
    } catch {
      unopenedViews.removeLast(unopenedViews.count - failures)
      for view in opened().reversed() { view.end { _ in } }
      throw error
    }
  }

  /// Opens a view that the client has asked for; it knows it from the answer on.
  ///
  /// - Parameters:
  ///   - wish: How the client calls it; `nil` for the next number.
  ///   - binder: The name of the binder.
  ///   - bind: Fills the view.
  /// - Throws: ``WireError``: `already_exists`, or `limit_reached`.
  package func open(
    _ binder: String, as wish: Handle?, _ bind: (View) throws(WireError) -> Void
  ) throws(WireError) -> View {
    guard views.count < limits.views else { throw .limitReached(.views, limits) }
    let view = View(
      try reserveView(wish), binder, .present, parent: nil, on: self)
    view.isTold = true
    if let runningBatch {
      view.isInBatch = true
      runningBatch.behind.append { [weak view] in view?.isInBatch = false }
    }
    views.append(view)
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

  private func reserveView(_ wish: Handle?) throws(WireError) -> Handle {
    guard let wish else { return freeViewNumber }
    guard view(wish) == nil else {
      throw WireError(
        .alreadyExists, "there is a view \(wish.text.text) already",
        ["what": .string("view"), "id": wish.text.value])
    }
    return wish
  }

  private var freeViewNumber: Handle {
    var number = views.count + 1
    while view(.number(number)) != nil { number += 1 }
    return .number(number)
  }

  /// What the n-th child of a view is called: `v1.2`.
  func childHandle(of parent: Handle, _ n: Int) -> Handle {
    let name =
      switch parent {
      case .name(let name): "\(name).\(n)"
      case .number(let number): "\(number).\(n)"
      }
    guard let handle = Handle(name: name), view(handle) == nil else { return freeViewNumber }
    return handle
  }

  package func view(_ handle: Handle) -> View? { views.first { $0.handle == handle } }

  /// A child view; the client hears of it later.
  func add(_ view: View) {
    views.append(view)
    view.markDirty()
  }

  /// Notes that the client has as many views as it may, so that it is told.
  func note(unopened view: View) {
    unopenedViews.append(view)
    hub.list(self)
  }

  func remove(_ view: View) {
    views.removeAll { $0 === view }
    hub.list(self)  // it may have been all that kept the connection
  }

  /// Notes that a view is closed, for a client that knows it.
  func note(closed view: View, _ reason: String) {
    guard view.isTold, !isEnded else { return }
    let ancestors = Array(sequence(first: view, next: \.parent).dropFirst().map(\.handle))
    closedViews.append(ClosedView(handle: view.handle, reason: reason, ancestors: ancestors))
    hub.list(self)
  }

  /// Closes a view because the client says so.
  ///
  /// - Returns: The handles of those that the client knew, children before parents.
  package func close(_ view: View) -> [Handle] {
    // Those that have ended before and are not told yet, so that nothing of them follows.
    var closed = closedViews.filter { $0.ancestors.contains(view.handle) }.map(\.handle)
    closedViews.removeAll { $0.ancestors.contains(view.handle) }
    view.end { if $0.isTold { closed.append($0.handle) } }
    return closed
  }

  /// What an intent has opened and closed is told when its answer is, and not before.
  ///
  /// - Parameter position: What the answer waits for.
  package func tellViews(after position: UInt64) {
    guard position > hub.position else { return }
    for i in closedViews.indices where closedViews[i].after == 0 {
      closedViews[i].after = position
    }
    for view in views + unopenedViews where !view.isTold && view.openedAfter == 0 {
      view.openedAfter = position
    }
    hub.await(self)
  }

  // MARK: Telling

  /// Appends what there is to tell of views: which are closed, which are open, what has changed.
  ///
  /// - Returns: Whether nothing is left that may leave now.
  func fillViews(_ buffer: inout ByteBuffer) -> Bool {
    while let closed = closedViews.first, closed.after <= hub.position {
      guard buffer.count < chunkSize else { return false }
      closedViews.removeFirst()
      write(closed, &buffer)
    }
    // What a view shows may open others, so they are counted each time.
    var i = 0
    while i < views.count {
      guard buffer.count < chunkSize else { return false }
      let view = views[i]
      if view.isDirty, !view.isHeld, closedViews.isEmpty || view.isTold {
        tell(view, &buffer)
        if view.isDirty, view.hasMore { continue }
      }
      if i < views.count, views[i] === view { i += 1 }
    }
    tellUnopened(&buffer)
    return true
  }

  private func tellUnopened(_ buffer: inout ByteBuffer) {
    unopenedViews.removeAll { view in
      guard let parent = view.parent, !parent.isClosed else { return true }
      guard parent.isTold, !parent.isHeld, view.openedAfter <= hub.position else { return false }
      view.writeUnopened(.limitReached(.views, limits), &buffer)
      return true
    }
  }

  private func tell(_ view: View, _ buffer: inout ByteBuffer) {
    guard view.isTold || view.openedAfter <= hub.position && view.parent?.isTold ?? true else {
      return
    }
    view.isDirty = false
    if view.isTold {
      guard view.writeNext(&buffer, size: lineOut) else {
        return fail(view, .viewTooLarge(view, view.newsSize, max: lineOut), &buffer)
      }
    } else {
      let start = buffer.count
      view.writeOpened(&buffer, size: lineOut)
      let size = buffer.count - start
      guard size <= lineOut else {
        buffer.truncate(to: start)
        return fail(view, .viewTooLarge(view, size, max: lineOut), &buffer)
      }
      view.isTold = true
    }
    view.isDirty = view.hasMore
  }

  /// Ends a view with an error, as the last that is heard of it.
  private func fail(_ view: View, _ error: WireError, _ buffer: inout ByteBuffer) {
    guard view.isTold else {
      view.end { _ in }
      return view.writeUnopened(error, &buffer)
    }
    for child in view.children.reversed() { child.close("failed") }
    while let closed = closedViews.first, closed.after <= hub.position {
      closedViews.removeFirst()
      write(closed, &buffer)
    }
    view.end { _ in }
    Frame.beginNotification("fail", &buffer)
    buffer.append(#""view":"#)
    buffer.append(view.handle.text.text)
    buffer.append(#","seq":"#)
    buffer.append(integer: hub.position)
    buffer.append(#","error":"#)
    error.write(to: &buffer)
    Frame.endParams(&buffer)
  }

  private func write(_ closed: ClosedView, _ buffer: inout ByteBuffer) {
    Frame.beginNotification("closed", &buffer)
    buffer.append(#""view":"#)
    buffer.append(closed.handle.text.text)
    buffer.append(#","seq":"#)
    buffer.append(integer: hub.position)
    buffer.append(#","reason":"#)
    buffer.append(quoted: closed.reason)
    Frame.endParams(&buffer)
  }

  /// Lets all views go, when the client has left.
  func endViews() {
    (closedViews, unopenedViews) = ([], [])
    while let root = views.last(where: { $0.parent == nil }) { root.end { _ in } }
  }
}

extension View {
  /// How long its first line would be, when the client takes no such line; `nil` when it does.
  fileprivate var excess: Int? {
    var buffer = ByteBuffer()
    writeOpened(&buffer, size: connection.lineOut)
    hasMore = false
    return buffer.count > connection.lineOut ? buffer.count : nil
  }
}

extension WireError {
  /// What a view shows, and is no element of a list, does not fit into a line.
  fileprivate static func viewTooLarge(_ view: View, _ size: Int, max: Int) -> WireError {
    .resultTooLarge(size, max: max, of: "the view '\(view.binder)'")
  }
}
