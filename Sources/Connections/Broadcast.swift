internal import JSON
internal import Signals

/// Data that subscriptions of several clients share, so that it is encoded and stored once.
///
/// The table holds a broadcast by key from its first subscription to its last.
class Broadcast {
  let table: BroadcastTable

  /// The observation of the source while there are subscribers.
  var observation: (any Disposable)?

  private let key: String
  private let keepsWindow: Bool
  private var subscribers: [Subscription] = []

  /// The broadcasts that show a part of this one; they are woken with it, once a turn.
  private var dependents: [ObjectIdentifier: Broadcast] = [:]

  /// The bytes of ``windowBytes`` that the table has counted.
  private var countedBytes = 0
  private var isDirty = false
  private var hasFrames = false
  private let live = LiveNode("Broadcast")

  /// - Parameter keepsWindow: Whether the broadcast retains recent items, in memory that all
  ///   broadcasts of the table share.
  init(_ key: String, in table: BroadcastTable, keepsWindow: Bool = false) {
    self.key = key
    self.table = table
    self.keepsWindow = keepsWindow
    if keepsWindow { table.windows[ObjectIdentifier(self)] = self }
  }

  /// The bytes of the retained items.
  var windowBytes: Int { 0 }

  /// Drops the oldest retained items until the rest takes at most `capacity` bytes.
  func trim(to capacity: Int) {}

  /// Sends a mark to the subscribers whose position is out of date.
  func mark() {}

  /// Drops the frames that subscribers share in one turn.
  func dropFrames() {}

  /// Encodes frames for this turn within the memory that all broadcasts share.
  ///
  /// - Parameter encode: Encodes the frames and returns their bytes.
  final func keepFrames(_ encode: () -> Int) {
    table.limitFrames()
    table.encodedBytes += encode()
    guard !hasFrames else { return }
    hasFrames = true
    table.encoded.append(self)
  }

  fileprivate final func endTurn() {
    hasFrames = false
    dropFrames()
  }

  /// Updates the table's count of retained bytes.
  final func countWindow() {
    table.windowTotal += windowBytes - countedBytes
    countedBytes = windowBytes
  }

  /// Marks the broadcast as changed.
  ///
  /// Its subscribers are notified at the end of the turn.
  final func wake() {
    guard !isDirty else { return }
    isDirty = true
    table.changed.append(self)
  }

  /// Marks all subscriptions of the broadcast as changed.
  final func markSubscribers() {
    isDirty = false
    if keepsWindow {
      countWindow()
      table.limitWindows()
    }
    for subscriber in subscribers { subscriber.markDirty() }
    for dependent in dependents.values { dependent.wake() }
  }

  final func add(dependent: Broadcast) { dependents[ObjectIdentifier(dependent)] = dependent }

  final func remove(dependent: Broadcast) {
    dependents[ObjectIdentifier(dependent)] = nil
    stopIfUnused()
  }

  final func add(_ subscriber: Subscription) {
    subscriber.place = subscribers.count
    subscribers.append(subscriber)
  }

  final func remove(_ subscriber: Subscription) {
    guard let i = subscriber.place, subscribers[i] === subscriber else { return }
    subscriber.place = nil
    let last = subscribers.removeLast()
    if last !== subscriber {
      subscribers[i] = last
      last.place = i
    }
    stopIfUnused()
  }

  private func stopIfUnused() {
    guard subscribers.isEmpty, dependents.isEmpty else { return }
    if keepsWindow {
      table.windowTotal -= countedBytes
      table.windows[ObjectIdentifier(self)] = nil
    }
    stop()
    table.drop(key)
  }

  /// Stops observing the source after the last subscription has ended.
  func stop() {
    observation?.dispose()
  }
}

/// The broadcasts of a daemon, and the memory that they may use together.
package final class BroadcastTable {
  /// The most bytes that all broadcasts together retain.
  private static let windowBytes = 64 << 20

  /// The bytes of frames of one turn at which the earlier ones are dropped.
  private static let frameBytes = 4 << 20

  /// The delay in seconds after which subscribers learn the position of events that they do not
  /// receive.
  private static let secondsBetweenMarks = 10.0

  private let scheduler: any Scheduler

  /// The broadcasts by key; the key of a part of a value may have any characters.
  private var broadcasts: [ExactText: Broadcast] = [:]

  /// The broadcasts that have changed in this turn.
  fileprivate var changed: [Broadcast] = []

  /// The broadcasts that hold frames for this turn.
  fileprivate var encoded: [Broadcast] = []

  /// The bytes of all frames that were encoded in this turn and not dropped.
  package fileprivate(set) var encodedBytes = 0

  /// The broadcasts that retain recent items.
  fileprivate var windows: [ObjectIdentifier: Broadcast] = [:]

  /// The bytes that all broadcasts together retain.
  package fileprivate(set) var windowTotal = 0

  /// The broadcasts that send their subscribers position marks from time to time.
  private var marked: [ObjectIdentifier: Broadcast] = [:]
  private var markAlarm: (any Disposable)?

  init(on scheduler: any Scheduler) {
    self.scheduler = scheduler
  }

  /// Returns the broadcast of a key.
  ///
  /// Creates it if there is none.
  func broadcast<B: Broadcast>(_ key: String, make: (_ key: String, BroadcastTable) -> B) -> B {
    let exact = ExactText(key)
    if let broadcast = broadcasts[exact] as? B { return broadcast }
    let broadcast = make(key, self)
    broadcasts[exact] = broadcast
    return broadcast
  }

  fileprivate func drop(_ key: String) {
    broadcasts[ExactText(key)] = nil
  }

  // MARK: Changes

  var hasChanges: Bool { !changed.isEmpty }

  /// Marks the subscriptions of all changed broadcasts as changed.
  func markSubscribers() {
    let changed = changed
    self.changed = []
    for broadcast in changed { broadcast.markSubscribers() }
  }

  /// Drops the frames of this turn if they exceed their limit, so that they are encoded again.
  fileprivate func limitFrames() {
    if encodedBytes >= Self.frameBytes { dropFrames() }
  }

  /// Drops the frames that subscribers have shared in this turn.
  func dropFrames() {
    guard !encoded.isEmpty else { return }
    encodedBytes = 0
    for broadcast in encoded { broadcast.endTurn() }
    encoded.removeAll(keepingCapacity: encoded.count <= 64)
  }

  // MARK: Memory

  /// Returns the number of bytes that one broadcast may retain.
  func windowBytes(atMost most: Int) -> Int {
    min(most, Self.windowBytes / max(1, windows.count))
  }

  /// Trims all broadcasts if they together exceed their limit, for example after many were created.
  fileprivate func limitWindows() {
    guard windowTotal > Self.windowBytes else { return }
    let share = windowBytes(atMost: .max) / 2
    for broadcast in windows.values {
      broadcast.trim(to: share)
      broadcast.countWindow()
    }
  }

  // MARK: Marks

  /// Calls ``Broadcast/mark()`` from time to time.
  func sendMarks(of broadcast: Broadcast) {
    marked[ObjectIdentifier(broadcast)] = broadcast
  }

  /// Stops the marks of a broadcast.
  func endMarks(of broadcast: Broadcast) {
    marked[ObjectIdentifier(broadcast)] = nil
    guard marked.isEmpty else { return }
    markAlarm?.dispose()
    markAlarm = nil
  }

  /// Schedules the next marks after the durable position has advanced.
  func scheduleMarks() {
    guard markAlarm == nil, !marked.isEmpty else { return }
    markAlarm = scheduler.schedule(after: Self.secondsBetweenMarks) { [unowned self] in
      markAlarm = nil
      for broadcast in marked.values { broadcast.mark() }
    }
  }
}
