internal import Signals

/// Data that subscriptions of several clients share, so that it is encoded and stored once.
///
/// The hub holds a feed by key from its first subscription to its last.
class Feed {
  let hub: Hub

  /// The observation of the source while there are subscribers.
  var observation: (any Disposable)?

  private let key: String
  private let keepsWindow: Bool
  private var subscribers: [Subscription] = []

  /// The bytes of ``windowBytes`` that the hub has counted.
  private var countedBytes = 0
  private var isDirty = false
  private let live = LiveNode("Feed")

  /// - Parameter keepsWindow: Whether the feed retains recent items, in memory that all feeds of
  ///   the hub share.
  init(_ key: String, _ hub: Hub, keepsWindow: Bool = false) {
    self.key = key
    self.hub = hub
    self.keepsWindow = keepsWindow
    if keepsWindow { hub.windowFeeds[ObjectIdentifier(self)] = self }
  }

  /// The bytes of the retained items.
  var windowBytes: Int { 0 }

  /// Drops the oldest retained items until the rest takes at most `capacity` bytes.
  func trim(to capacity: Int) {}

  /// Updates the hub's count of retained bytes.
  final func countWindow() {
    hub.windowTotal += windowBytes - countedBytes
    countedBytes = windowBytes
  }

  /// Marks the feed as changed.
  ///
  /// Its subscribers are notified at the end of the turn.
  final func wake() {
    guard !isDirty else { return }
    isDirty = true
    hub.markDirty(self)
  }

  /// Marks all subscriptions of the feed as changed.
  final func markSubscribers() {
    isDirty = false
    if keepsWindow {
      countWindow()
      hub.limitWindows()
    }
    for subscriber in subscribers { subscriber.markDirty() }
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
    guard subscribers.isEmpty else { return }
    if keepsWindow {
      hub.windowTotal -= countedBytes
      hub.windowFeeds[ObjectIdentifier(self)] = nil
    }
    stop()
    hub.dropFeed(key)
  }

  /// Stops observing the source after the last subscription has ended.
  func stop() {
    observation?.dispose()
  }
}
