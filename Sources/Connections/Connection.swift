package import JSON
internal import Model
package import Signals
package import Wire

/// The connection of one client, as the application sees it: its requests, subscriptions, views and
/// bindings.
///
/// It depends on neither sockets nor services. A host passes input to ``receive(_:)`` and provides
/// a ``Transport``. A binder handles the requests and adds subscriptions.
package final class Connection: Client {
  /// The reason why a request waits.
  package enum Parking {
    /// The client's time slice in this turn is over.
    case turn
    /// The client must take its output first.
    case output
    /// The client's own writes must become durable first.
    case durability
    /// Earlier late calls must be answered first, because the answers together could be too long.
    case late
    /// Work on another thread must complete first.
    case work
  }

  // MARK: State that every turn reads
  //
  // It stands together, so that a turn with many clients reads few cache lines of each.

  package private(set) var isEnded = false

  var link = ClientLink()
  var intake = RequestIntake()
  var subscribed = SubscriptionList()

  /// The views on the client's screen; `nil` if it never had one.
  private(set) var openViews: OpenViews?

  /// The part that survives a restart of the daemon; `nil` if the connection ends with the daemon.
  var kept: HandoverClient?

  /// The output that the socket has not taken yet.
  var output = OutputBuffer()

  /// Answers that wait for the journal.
  var held = HeldReplies()

  /// Answers and actions that wait for earlier output.
  var followUps = FollowUps()

  /// Calls that are answered in a later turn.
  var lateCalls = LateCalls()

  /// The requests that another daemon runs for this client.
  var forwarded = ForwardedLoad()
  var input: LineSplitter

  // MARK: Other state

  /// Disposables that end with the connection.
  private lazy var bag = DisposeBag()

  private let live = LiveNode("Connection")

  /// The handler of requests, set by the binder.
  package var handler: (any RequestHandler)?

  /// The client's name from `hello`; `nil` before.
  package var clientName: String?

  /// The time of connecting, in milliseconds of the monotonic clock.
  package internal(set) var connectedAt: UInt64

  /// The number of requests of this client.
  package internal(set) var requests: UInt64 = 0

  /// The bindings that end with this connection, by handle.
  package internal(set) var bindings: [Handle: HeldBinding] = [:]

  /// The position of the last event that this client caused.
  package internal(set) var writtenPosition: UInt64 = 0

  override init(id: UInt64, peer: Peer, user: UserShare, in context: ConnectionContext) {
    input = LineSplitter(limit: context.limits.lineIn)
    connectedAt = context.now()
    super.init(id: id, peer: peer, user: user, in: context)
  }

  /// Starts reading from the client.
  package func start(_ transport: any Transport) {
    link.start(transport)
    context.traffic.connections &+= 1
    updateReading()
  }

  /// Records a write of this client at a position, for which its later requests wait.
  package func recordWrite(upTo position: UInt64) {
    writtenPosition = max(writtenPosition, position)
  }

  /// Whether earlier writes of this client are not durable yet.
  package var hasUndurableWrites: Bool { writtenPosition > context.position }

  /// Whether earlier writes of this client are durable and answered.
  package var isUpToDate: Bool {
    writtenPosition <= context.position && held.inOrder.isEmpty && forwarded.waitedFor == 0
  }

  /// Whether the running request is measured.
  package var isMeasured: Bool { context.stages.isRunning }

  /// Ends the dispatch of the running request to a method, if it is measured.
  package func endDispatch(to method: String) { context.stages.endDispatch(to: method) }

  /// Parks the current request, which its handler has postponed, until ``endWork()``.
  package func awaitWork() { intake.awaitWork() }

  /// Parks the current request, which its handler has postponed, for a time.
  package func awaitTime(seconds: Double) {
    awaitWork()
    attach(context.scheduler.schedule(after: seconds) { [weak self] in self?.endWork() })
  }

  /// Marks the work as complete, so that the parked request runs again.
  package func endWork() {
    if !isEnded, intake.endWork() { list() }
  }

  /// The milliseconds for which the current request was parked.
  package var waitedMilliseconds: UInt64 { intake.waitedMilliseconds(at: context.now()) }

  /// The number of late calls.
  package var lateCount: Int { lateCalls.all.count }

  /// The number of answers that wait for the journal.
  package var heldCount: Int { held.count }

  package var bindingCount: Int { bindings.count }

  /// Bytes of pending output.
  package var outputBytes: Int { output.count }

  /// The views on the client's screen.
  package var views: OpenViews {
    if let openViews { return openViews }
    let views = OpenViews(of: self)
    openViews = views
    return views
  }

  // MARK: Attached state

  /// Disposes what a binder has for this client when the connection ends.
  ///
  /// - Parameter part: The part that it belongs to. Without a way to restore it, the connection does
  ///   not survive the daemon.
  package func attach(_ part: ConnectionPart, _ disposable: any Disposable) {
    if part.fate == .closes { context.handover?.end(self) }
    bag.add(disposable: disposable)
  }

  /// Disposes the work for a call that is answered in its turn when the connection ends.
  func attach(_ work: any Disposable) { bag.add(disposable: work) }

  /// The number of attached disposables that have not ended.
  package var attachedCount: Int { bag.count }

  // MARK: Subscriptions

  package var subscriptions: [Subscription] { subscribed.all }

  /// The most recent names of ended subscriptions, oldest first; at most 64.
  package var endedNames: [String] { subscribed.endedNames }

  /// The last handle number that was assigned.
  package var lastHandle: Int { subscribed.lastNumber }

  /// Returns a free handle for a subscription: the requested one, or the next number.
  ///
  /// - Parameter bytes: What the subscription will be charged.
  /// - Throws: ``WireError``: `already_exists` or `limit_reached`.
  package func reserveHandle(
    _ wish: Handle?, _ bytes: Int = ItemBytes.subscription
  ) throws(WireError) -> Handle {
    try checkHandle(wish, bytes)
    return wish ?? .number(subscribed.assignNumber())
  }

  /// Lets the numbers of new handles begin after one.
  package func skipHandles(upTo number: Int) {
    subscribed.skipNumbers(upTo: number)
    views.skippedNumbers = number
  }

  /// - Throws: The errors of ``reserveHandle(_:_:)``. Reserves no number.
  package func checkHandle(
    _ wish: Handle?, _ bytes: Int = ItemBytes.subscription
  ) throws(WireError) {
    guard subscribed.all.count < limits.subscriptions else {
      throw .limitReached(.subscriptions, limits)
    }
    try checkMemory(for: bytes)
    guard let wish, subscription(wish) != nil else { return }
    throw WireError(
      .alreadyExists, "there is a subscription \(wish.text.text) already",
      ["what": .string("subscription"), "id": wish.text.value])
  }

  package func subscription(_ handle: Handle) -> Subscription? { subscribed[handle] }

  /// Adds and starts a subscription.
  ///
  /// Its answer must have been written before.
  ///
  /// - Parameter source: The client's name for the subject: a source, a pattern or `events`.
  package func add(_ subscription: Subscription, of source: String = "") {
    subscription.source = source
    subscribed.append(subscription)
    charge(subscription.bytes)
    keepAdded(subscription)
    // Not weak: a weak reference would slow down every frame of the subscription.
    subscription.isInBatch = afterBatch { subscription.isInBatch = false }
    context.counts.subscriptions += 1
    subscription.start()
  }

  /// Ends a subscription.
  ///
  /// No more frames of it are sent.
  package func remove(_ subscription: Subscription) {
    guard subscribed.remove(subscription) else { return }
    charge(-subscription.bytes)
    dropRemoved(subscription)
    context.counts.subscriptions -= 1
    subscription.end()
    list()  // the subscription may have kept the connection open
  }

  /// Ends a subscription and sends the client the error.
  package func end(_ subscription: Subscription, with error: WireError) {
    subscription.fail(error, seq: nil, &output.tail)
    remove(subscription)
  }

  /// Runs an action after the answer to the running batch was sent.
  override func afterBatch(_ action: @escaping () -> Void) -> Bool {
    guard let batch = intake.runningBatch else { return false }
    batch.behind.append(action)
    return true
  }

  // MARK: Calls from the context

  override func pump() {
    let isServed = beginServing()
    sendDue()
    guard isServed else { return }
    // Nothing was sent of what is gathered.
    if link.gatheredPlace == nil { endServing(hasSent: true) } else { stopServing() }
  }

  override func goOnAfterInterruption() { continueInput() }

  // MARK: Ending

  /// Sends the reason as the last line and closes the connection.
  ///
  /// - Parameter limit: The exceeded limit; `nil` for the usual limit of the reason.
  package func close(_ reason: Closing, _ limit: LimitName? = nil) {
    guard !isEnded else { return }
    context.handover?.markCut(self)
    sendGathered()
    context.writeClosing(reason, limit, of: limits, &output.tail)
    _ = sendOutput()
    link.closing = reason
    end()
  }

  /// Releases all resources and leaves the socket open for the next daemon.
  func leave() {
    link.isLeft = true
    end()
  }

  /// Releases all resources of the client and closes the connection.
  override package func end() {
    guard !isEnded else { return }
    sendGathered()
    isEnded = true
    let ended = subscribed.removeAll()
    context.counts.subscriptions -= ended.count
    for subscription in ended.reversed() {
      charge(-subscription.bytes)
      subscription.end()
    }
    openViews?.endAll()
    for binding in bindings.values {
      charge(-binding.bytes)
      binding.work.dispose()
    }
    bindings = [:]
    followUps.removeAll()
    abandonLate()
    held.stopTimer()
    bag.dispose()
    handler?.end()
    handler = nil
    forwarded.mayEnd = nil
    held = HeldReplies()
    output.removeAll()
    _ = intake.removeBatch()
    user.bufferedBytes -= bufferedBytes
    bufferedBytes = 0
    if let transport = link.removeTransport() {
      context.traffic.countEnd(link.closing)
      if link.isLeft { transport.leave() } else { transport.close() }
    }
    context.handover?.end(self)
    context.stopMonitoring(self)
    context.onEnd(self)
  }

  /// Ends the connection, whose socket has closed, in the time of its user.
  ///
  /// Many connections with much to end may close in one turn.
  override package func endSoon() {
    guard !isEnded else { return }
    guard !subscriptions.isEmpty || !bindings.isEmpty || lateCount > 0 || openViews != nil,
      !context.isStopping
    else { return end() }
    _ = context.add(for: user.uid) { [self] in end() }
  }

  /// Whether the client has closed its sending side, and the daemon did not close the connection.
  package var hasEndedItself: Bool { link.hasEndedItself }

  /// Ends the connection if the client has closed its side and nothing is left to send.
  package func endIfDone() {
    guard link.isAtEnd, !isEnded, !input.isParked, held.isEmpty, lateCalls.all.isEmpty,
      outputBytes == 0, followUps.answers.isEmpty, subscribed.all.isEmpty,
      openViews?.isEmpty ?? true, bindings.isEmpty, forwarded.mayEnd?() ?? true
    else { return }
    end()
  }

  /// Whether the client still waits for an answer, for output or for a parked request.
  ///
  /// Output and parked requests of a kept connection can wait for the next daemon.
  var isUnfinished: Bool {
    !held.isEmpty || !lateCalls.all.isEmpty || !followUps.answers.isEmpty
      || (isKept ? isInHand : outputBytes > 0 || intake.parked != nil || isPostponed)
  }

  override func checkProgress(at now: UInt64) -> Bool {
    guard !isEnded else { return false }
    if let since = intake.partialSince, now - since >= UInt64(limits.partialLineMilliseconds) {
      close(.lineTimeout)
      return false
    }
    if let since = output.stalledSince, now - since >= UInt64(limits.stallMilliseconds) {
      close(.stalled)
      return false
    }
    return intake.partialSince != nil || output.stalledSince != nil
  }
}

/// Handles the requests of a connection.
package protocol RequestHandler: AnyObject {
  /// Reads a line with one request.
  ///
  /// - Parameter request: A new request.
  /// - Throws: See ``Request/init(parsing:idBytes:)``, which reads it by default.
  func read(
    _ line: Span<UInt8>, into request: inout Request, idBytes: Int
  ) throws(Request.Fault)

  /// Handles a request.
  ///
  /// - Returns: The reason to wait if the request must be retried later, or `nil` if it was handled.
  func handle(_ call: Call, _ request: Request, _ line: Span<UInt8>) -> Connection.Parking?

  /// Drops what it keeps of requests, because it handles no more.
  func end()
}

extension RequestHandler {
  package func end() {}

  package func read(
    _ line: Span<UInt8>, into request: inout Request, idBytes: Int
  ) throws(Request.Fault) {
    request = try Request(parsing: line, idBytes: idBytes)
  }
}

/// Requests that another daemon runs for this client.
extension Connection {
  /// The number of forwarded requests whose answers must come first.
  package var forwardedRequests: Int { forwarded.waitedFor }

  /// Returns whether nothing is left of the client at another daemon; `nil` if nothing ever was.
  ///
  /// Called when the client has closed its sending side, and nothing is left of it here.
  package var mayEnd: (() -> Bool)? {
    get { forwarded.mayEnd }
    set { forwarded.mayEnd = newValue }
  }

  /// Returns whether another request may be passed on before earlier ones have their answers.
  package func hasRoom(toForward bytes: Int) -> Bool {
    forwarded.waitedFor == 0
      || forwarded.waitedFor < limits.inFlight && forwarded.bytes + bytes <= outputSoft
  }

  /// Notes that a request was passed on.
  ///
  /// - Parameter isWaitedFor: Whether it must be answered before others.
  package func beginForwarded(_ bytes: Int, isWaitedFor: Bool) {
    forwarded.add(bytes, isWaitedFor: isWaitedFor)
  }

  /// Notes that a request that was passed on is over.
  package func endForwarded(_ bytes: Int, isWaitedFor: Bool) {
    forwarded.remove(bytes, isWaitedFor: isWaitedFor)
  }
}

/// A binding of a connection.
package struct HeldBinding {
  package let work: any Disposable

  /// The bytes charged to the user while the binding exists.
  let bytes: Int
}

extension Connection {
  /// Adds a binding that ends with this connection.
  ///
  /// - Parameter bytes: What the user is charged for it.
  package func add(_ binding: any Disposable, as handle: Handle, _ bytes: Int) {
    bindings[handle] = HeldBinding(work: binding, bytes: bytes)
    charge(bytes)
  }

  /// Returns whether a binding has a handle.
  package func hasBinding(_ handle: Handle) -> Bool { bindings[handle] != nil }

  /// Removes and returns a binding; `nil` if there is none with the handle.
  package func removeBinding(_ handle: Handle) -> (any Disposable)? {
    drop(.binding, handle.text.text)
    defer { list() }  // the binding may have kept the connection open
    guard let binding = bindings.removeValue(forKey: handle) else { return nil }
    charge(-binding.bytes)
    return binding.work
  }

  /// Returns a free handle for a binding: the requested one, or the next number.
  ///
  /// - Throws: ``WireError``: `already_exists` or `limit_reached`.
  package func reserveBinding(_ wish: Handle?) throws(WireError) -> Handle {
    guard bindings.count < limits.bindings else {
      throw .limitReached(.bindings, limits)
    }
    guard let wish else {
      var number = bindings.count + 1
      while bindings[.number(number)] != nil { number += 1 }
      return .number(number)
    }
    guard bindings[wish] == nil else {
      throw WireError(
        .alreadyExists, "there is a binding \(wish.text.text) already",
        ["what": .string("binding"), "id": wish.text.value])
    }
    return wish
  }

  /// Notifies the client, after the answers to earlier requests.
  package func notify(_ method: StaticString, _ members: @escaping (inout ByteBuffer) -> Void) {
    if afterBatch({ [self] in notify(method, members) }) { return }
    emit(after: 0, to: .nobody, isLate: false) { buffer in
      Frame.notification(method, &buffer, members)
    }
  }

  /// Passes a notification of another daemon on, once a position is durable here.
  package func relay(_ notification: JSONText, after position: UInt64) {
    if afterBatch({ [self] in relay(notification, after: position) }) { return }
    emit(after: position, to: .nobody, isLate: true, isForwarded: true) { buffer in
      buffer.append(notification.text)
      buffer.append(UInt8(ascii: "\n"))
    }
  }

  /// Notifies the client like ``notify(_:_:)``, with members that are written now.
  package func notifyNow(_ method: StaticString, _ members: (inout ByteBuffer) -> Void) {
    guard intake.runningBatch == nil else {
      var text = ByteBuffer()
      text.object(members)
      let kept = JSONText(trusted: text.string)
      return notify(method) { $0.members(of: kept) }
    }
    emit(after: 0, to: .nobody, isLate: false) { buffer in
      Frame.notification(method, &buffer, members)
    }
  }

  /// Notifies the client, after the answer that created the binding, that the binding failed to set
  /// a value.
  package func fail(binding handle: Handle, _ error: WireError) {
    if afterBatch({ [self] in fail(binding: handle, error) }) { return }
    emit(after: 0, to: .nobody, isLate: false) { buffer in
      Frame.notification("fail", &buffer) {
        $0.member("binding", handle)
        $0.member("error", error)
      }
    }
  }
}
