package import Signals

/// Work for a user that commits, timers and changes of sources cause.
///
/// It is done in slices of the user's time, like the requests of the user's clients, so that it does
/// not delay other users. A step must be short.
///
///     final class Greeting: SlicedWork {
///       var isQueued = false
///       var names: [String] = []
///       func step() -> Bool {
///         if let name = names.popLast() { greet(name) }
///         return !names.isEmpty
///       }
///     }
///     context.add(greeting, for: uid)
package protocol SlicedWork: AnyObject {
  /// Whether the work is in the queue of a user; set by the queue.
  var isQueued: Bool { get set }

  /// Performs the next step.
  ///
  /// - Returns: Whether a step is left.
  func step() -> Bool
}

/// One action as a step of work; disposing of it cancels the action.
private final class ActionWork: SlicedWork, Disposable {
  var isQueued = false
  private var action: (() -> Void)?

  init(_ action: @escaping () -> Void) { self.action = action }

  var isDisposed: Bool { action == nil }
  func dispose() { action = nil }

  func step() -> Bool {
    let action = action
    self.action = nil
    action?()
    return false
  }
}

/// Work whose steps are a function.
private final class SteppedWork: SlicedWork {
  var isQueued = false
  private let body: () -> Bool

  init(_ body: @escaping () -> Bool) { self.body = body }

  func step() -> Bool { body() }
}

/// Frees values in steps, because to free many takes as long as to make them.
private final class FreeingWork<Value>: SlicedWork {
  static var freedPerStep: Int { 128 }

  var isQueued = false
  private var values: [Value]

  init(_ values: consuming [Value]) { self.values = values }

  func step() -> Bool {
    values.removeLast(min(Self.freedPerStep, values.count))
    return !values.isEmpty
  }
}

/// The queued work of one user, in the order in which it was added.
///
/// Values are freed before other work is done, which may need as much memory.
final class WorkQueue: Interruptible {
  unowned let user: UserShare
  private let time: TurnTime
  private var works = Queue<any SlicedWork>()
  private var freeing = Queue<any SlicedWork>()

  /// Whether it waits for the user's next slice.
  private var isWaiting = false

  init(of user: UserShare, in time: TurnTime) {
    (self.user, self.time) = (user, time)
  }

  var isEmpty: Bool { works.isEmpty && freeing.isEmpty }

  func add(_ work: any SlicedWork, isFreeing: Bool = false) {
    guard !work.isQueued else { return }
    work.isQueued = true
    if isFreeing { freeing.append(work) } else { works.append(work) }
    wait()
  }

  private func wait() {
    guard !isWaiting else { return }
    isWaiting = true
    time.append(self)
  }

  /// Performs steps until the slice is over.
  func run() {
    guard !isEmpty, time.begin(for: user) else { return }
    while !isEmpty, !time.isUpNow() {
      time.countStep()
      let isFreeing = !freeing.isEmpty
      guard let work = isFreeing ? freeing.first : works.first, !work.step() else { continue }
      // The step may have removed all work.
      guard work === (isFreeing ? freeing.first : works.first) else { continue }
      _ = isFreeing ? freeing.popFirst() : works.popFirst()
      work.isQueued = false
    }
    time.end()
  }

  func goOnAfterInterruption() {
    isWaiting = false
    run()
    if !isEmpty { wait() }
  }

  func removeAll() {
    // What is dropped may queue more when it ends.
    while !isEmpty {
      let dropped = [freeing, works]
      (freeing, works) = (Queue(), Queue())
      for work in dropped.joined() { work.isQueued = false }
    }
  }
}

extension ConnectionContext {
  /// The milliseconds after the beginning of a stop for which work is still done.
  ///
  /// Work can cause more work without an end. What is not done then is done after the restart.
  private static let stopMilliseconds: UInt64 = 1_000

  /// Whether work is dropped because the daemon has been stopping for some time.
  private var isWorkOver: Bool {
    stoppingSince.map { now() - $0 >= Self.stopMilliseconds } ?? false
  }

  /// Queues work for a user, who need not be connected.
  ///
  /// It is done at the next call of ``work()`` or at the end of the turn, as far as the user's time
  /// allows, and otherwise in later turns. Does nothing if the work is queued already.
  package func add(_ work: any SlicedWork, for uid: UInt32) {
    add(work, for: uid, isFreeing: false)
  }

  private func add(_ work: any SlicedWork, for uid: UInt32, isFreeing: Bool) {
    guard !work.isQueued, !isWorkOver else { return }
    let user = users.share(of: uid)
    let queue = user.work ?? WorkQueue(of: user, in: time)
    if user.work == nil { user.work = queue }
    queue.add(work, isFreeing: isFreeing)
  }

  /// Lets views do work in the time of their users.
  func offerWork(to views: ViewContext) {
    views.isTimeUp = { [unowned self] in isWorkTimeUp }
    views.addWork = { [unowned self] user, step in addSteps(for: user, step) }
    views.free = { [unowned self] texts, user in free(texts, for: user) }
  }

  /// Frees values in the time of a user, before other work; the caller must hold them nowhere else.
  package func free<Value>(_ values: consuming [Value], for uid: UInt32) {
    guard values.count > FreeingWork<Value>.freedPerStep else { return }
    add(FreeingWork(values), for: uid, isFreeing: true)
  }

  /// Queues an action for a user; see ``add(_:for:)``.
  ///
  /// - Returns: Cancels the action.
  package func add(for uid: UInt32, _ action: @escaping () -> Void) -> any Disposable {
    let work = ActionWork(action)
    add(work, for: uid)
    return work
  }

  /// Queues work for a user whose steps are a function; see ``add(_:for:)``.
  ///
  /// - Parameter step: Performs the next step, and returns whether one is left.
  package func addSteps(for uid: UInt32, _ step: @escaping () -> Bool) {
    add(SteppedWork(step), for: uid)
  }

  /// Does queued work, for each user as far as the user's time in this turn allows.
  ///
  /// Call it after a commit or another cause of work. Does nothing while a client or other work
  /// runs; the work is then done at the end of the turn.
  package func work() { time.work() }

  /// Returns whether the running step of work should end, because the slice is over.
  package var isWorkTimeUp: Bool { time.isUpNow() }

  /// Whether work is queued.
  package var hasWork: Bool { time.hasWork }

  /// The steps of work that were performed since the start, for tests.
  package var workSteps: UInt64 { time.steps }

  /// Ends the work for which no time is left while the daemon stops, and frees the shares of users
  /// without clients and without work.
  func checkWork() {
    if isWorkOver { time.dropWork() }
    users.removeUnused()
  }
}
