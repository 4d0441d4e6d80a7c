package import JSON
package import Signals
package import Wire

/// One client as the application sees it: what it asks, and a place to show it things.
///
/// It knows neither socket nor service. A host feeds it with ``receive(_:)`` and gives it a
/// ``Transport``; a binder observes its requests and adds subscriptions.
package final class Connection: DisposeBagProvider {
  /// Handles a request; returns what it has to wait for first, `nil` when it was handled.
  package typealias Handler = (
    _ call: Call, _ request: Request, _ line: Span<UInt8>
  ) -> Parking?

  /// What a request waits for before it is run.
  package enum Parking {
    /// The next turn: the client's time of this one is up.
    case turn
    /// The client takes its output.
    case output
    /// What the client has written before becomes durable.
    case durability
    /// Answers to earlier async calls leave: more of them could be too long together.
    case late
    /// Something that is done for it on another thread.
    case work
  }

  /// Opens a view that the client asks for.
  package typealias Opener = (
    _ binder: String, _ wish: Handle?, _ arguments: JSONText
  ) throws(WireError) -> View

  package let id: UInt64
  package let peer: PeerIdentity
  package let hub: Hub

  /// What it shares with other clients of its user.
  let user: UserShare

  /// Everything that lives as long as the client.
  package private(set) lazy var bag = DisposeBag()

  private static let endedNamesKept = 64
  private let live = LiveNode("Connection")

  /// Who runs the requests; set by the binder.
  package var onRequest: Handler?

  /// What the client is bound to, for the binder that has set it.
  package var bound: AnyObject?

  /// Who opens views; set by the binder.
  package var onOpen: Opener?

  /// As the client has called itself in `hello`; `nil` before.
  package var clientName: String?

  /// Whether the client takes several entries of a log in one line.
  package var takesItems = false

  /// Bytes of the longest line that the client takes.
  package var lineOut: Int

  package private(set) var subscriptions: [Subscription] = []

  /// Subscriptions that take time to find out what is to be sent.
  private(set) var costlySubscriptions = 0

  /// The views that are open, parents before their children.
  package internal(set) var views: [View] = []

  /// Those that were closed and of which the client has not been told.
  var closedViews: [ClosedView] = []

  /// Views for which there was no place; the client is to be told.
  var unopenedViews: [View] = []

  /// Bindings that end with this client.
  package internal(set) var bindings: [Handle: any Disposable] = [:]

  /// The names of subscriptions that have ended, the last of them last; some, not all.
  package private(set) var endedNames: [String] = []

  /// The last number that was given as a handle.
  package private(set) var lastHandle = 0

  var transport: (any Transport)?
  var input: LineSplitter
  var badLines = 0

  /// The batch that was interrupted between two requests.
  var batch: RunningBatch?

  /// The batch of which a request is being run.
  var runningBatch: BatchAnswer?

  /// What is done when all answers have left that were given.
  var behindAnswers: [() -> Void] = []

  /// Why a line was left for later.
  var parked: Parking?

  /// When answers are looked at whose client does not wait for ever.
  var expiry: (at: UInt64, timer: any Disposable)?

  /// Whether the line that is left for later waits for work that is done away from the loop.
  var isAwaitingWork = false

  /// When the line that is left for later was first looked at.
  var parkedSince: UInt64?

  /// Bytes of the answers of batches that are not whole yet.
  var batchBytes = 0

  /// What is counted of this connection in ``UserShare/bufferedBytes``.
  var bufferedBytes = 0

  /// Answers to async calls that wait until the client has taken its output.
  var postponedAnswers: [() -> Void] = []

  /// Output that the client has not taken.
  var output = ByteBuffer()
  var outputStart = 0

  /// Answers that wait for the journal, in the order of their requests.
  var held = HeldAnswers()

  /// Those that wait for it as well and came later than their turn: they overtake others.
  var heldLate = HeldAnswers()

  /// The last event that this client has caused.
  package internal(set) var writtenPosition: UInt64 = 0

  /// Calls that are answered when the client has been sent everything up to a position.
  var syncs: [(position: UInt64, call: Call)] = []

  /// Calls that are answered in a later turn.
  var late: [Call] = []

  /// Whether the client has ended its sending side.
  var isAtEnd = false
  package private(set) var isEnded = false

  // What the hub has noted of it.
  var isListed = false
  var isPostponed = false
  var isWaiting = false
  var isMonitored = false
  var partialSince: UInt64?
  var stalledSince: UInt64?

  /// A connection that its hub counts.
  init(id: UInt64, peer: PeerIdentity, hub: Hub) {
    self.id = id
    self.peer = peer
    self.hub = hub
    user = hub.share(of: peer.uid)
    input = LineSplitter(limit: hub.limits.lineIn)
    lineOut = hub.limits.lineOut
  }

  package var limits: Limits { hub.limits }

  /// Starts to read from the client.
  package func start(_ transport: any Transport) {
    self.transport = transport
    updateReading()
  }

  /// What the client asks next waits until it is durable up to a position.
  package func noteWritten(upTo position: UInt64) {
    writtenPosition = max(writtenPosition, position)
  }

  /// Whether what this client has written before is not durable yet.
  package var hasUndurableWrites: Bool { writtenPosition > hub.position }

  /// Leaves the request that is run now, which its handler has left for later, until
  /// ``endWork()``.
  package func awaitWork() { isAwaitingWork = true }

  /// The work is done: the request is run again.
  package func endWork() {
    guard isAwaitingWork, !isEnded else { return }
    isAwaitingWork = false
    hub.list(self)
  }

  /// For how many milliseconds the request that is run now was left for later.
  package var waitedMilliseconds: UInt64 { parkedSince.map { hub.now() - $0 } ?? 0 }

  /// Whether an answer to an earlier request waits for the journal.
  ///
  /// What is read meanwhile would be answered behind it; and a subscription would show changes
  /// before its own answer.
  package var hasHeldAnswers: Bool { !held.isEmpty }

  /// Calls that are answered in a later turn.
  package var lateCount: Int { late.count }

  /// Answers that wait for the journal.
  package var heldCount: Int { held.count + heldLate.count }

  package var bindingCount: Int { bindings.count }

  /// Bytes that wait for the client.
  package var outputBytes: Int { output.count - outputStart }

  // MARK: Subscriptions

  /// A handle that is free: the wish, or the next number.
  ///
  /// - Throws: ``WireError``: `already_exists`, or `limit_reached`.
  package func reserveHandle(_ wish: Handle?) throws(WireError) -> Handle {
    try checkHandle(wish)
    if let wish { return wish }
    repeat { lastHandle += 1 } while subscription(.number(lastHandle)) != nil
    return .number(lastHandle)
  }

  /// - Throws: What ``reserveHandle(_:)`` would throw now; no number is taken.
  package func checkHandle(_ wish: Handle?) throws(WireError) {
    guard subscriptions.count < limits.subscriptions else {
      throw .limitReached(.subscriptions, limits)
    }
    guard let wish, subscription(wish) != nil else { return }
    throw WireError(
      .alreadyExists, "there is a subscription \(wish.text.text) already",
      ["what": .string("subscription"), "id": wish.text.value])
  }

  package func subscription(_ handle: Handle) -> Subscription? {
    subscriptions.first { $0.handle == handle }
  }

  /// Shows a subscription from now on; its reply has been written before.
  ///
  /// - Parameter source: What the client has called that which it watches.
  package func add(_ subscription: Subscription, of source: String = "") {
    subscription.source = source
    subscriptions.append(subscription)
    if let runningBatch {
      subscription.isInBatch = true
      runningBatch.behind.append { [weak subscription] in subscription?.isInBatch = false }
    }
    hub.subscriptionCount += 1
    if subscription.isCostly { costlySubscriptions += 1 }
    subscription.start()
  }

  /// Ends a subscription; nothing of it is sent any more.
  package func remove(_ subscription: Subscription) {
    guard let i = subscriptions.firstIndex(where: { $0 === subscription }) else { return }
    subscriptions.remove(at: i)
    hub.subscriptionCount -= 1
    if subscription.isCostly { costlySubscriptions -= 1 }
    noteEnded(subscription.handle)
    subscription.end()
    hub.list(self)  // it may have been all that kept the connection
  }

  /// Ends a subscription, and tells why.
  package func end(_ subscription: Subscription, with error: WireError) {
    subscription.fail(error, seq: nil, &output)
    remove(subscription)
  }

  private func noteEnded(_ handle: Handle) {
    guard case .name(let name) = handle else { return }
    if let i = endedNames.firstIndex(of: name) {
      endedNames.remove(at: i)
    } else if endedNames.count == Self.endedNamesKept {
      endedNames.removeFirst()
    }
    endedNames.append(name)
  }

  // MARK: Ending

  /// Says why, as the last line, and hangs up.
  ///
  /// - Parameter limit: The limit that was broken; left out, the one that the reason has.
  package func close(_ reason: Closing, _ limit: LimitName? = nil) {
    guard !isEnded else { return }
    hub.writeClosing(reason, limit, &output)
    _ = sendOutput()
    end()
  }

  /// Lets everything go that the client had, and hangs up.
  package func end() {
    guard !isEnded else { return }
    isEnded = true
    let ended = subscriptions.reversed()
    subscriptions = []
    hub.subscriptionCount -= ended.count
    for subscription in ended { subscription.end() }
    endViews()
    for binding in bindings.values { binding.dispose() }
    bindings = [:]
    syncs = []
    behindAnswers = []
    postponedAnswers = []
    abandonLate()
    expiry?.timer.dispose()
    expiry = nil
    bag.dispose()
    onRequest = nil
    onOpen = nil
    bound = nil
    held = HeldAnswers()
    heldLate = HeldAnswers()
    output.removeAll(keepingCapacity: 0)
    outputStart = 0
    batch = nil
    user.bufferedBytes -= bufferedBytes
    bufferedBytes = 0
    let transport = transport
    self.transport = nil
    transport?.close()
    hub.remove(self)
  }

  /// Ends the connection when the client has ended its side and nothing is owed to it.
  func endIfDone() {
    guard isAtEnd, !isEnded, !input.isParked, held.isEmpty, heldLate.isEmpty, late.isEmpty,
      outputBytes == 0, postponedAnswers.isEmpty,
      subscriptions.isEmpty, views.isEmpty, closedViews.isEmpty, bindings.isEmpty
    else { return }
    end()
  }
}
