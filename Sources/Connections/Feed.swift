internal import Signals

/// What subscriptions of several clients share: encoded once, kept once.
///
/// It stays in its hub, under its key, from the first subscription to the last.
class Feed {
  let hub: Hub

  /// What it listens to while somebody watches.
  var observation: (any Disposable)?

  private let key: String
  private let keepsWindow: Bool
  private var subscribers: [Subscription] = []

  /// Bytes of what it keeps of what has happened, as the hub has counted them.
  private var countedBytes = 0
  private var isDirty = false
  private let live = LiveNode("Feed")

  /// - Parameter keepsWindow: Whether it keeps some of what has happened, in its part of the memory
  ///   that the hub has for all.
  init(_ key: String, _ hub: Hub, keepsWindow: Bool = false) {
    self.key = key
    self.hub = hub
    self.keepsWindow = keepsWindow
    if keepsWindow { hub.windowFeeds[ObjectIdentifier(self)] = self }
  }

  /// Bytes of what it keeps of what has happened.
  var windowBytes: Int { 0 }

  /// Drops the oldest of what it keeps, until that takes no more than so many bytes.
  func trim(to capacity: Int) {}

  /// Notes how much it keeps; the hub makes room when all feeds together keep too much.
  final func countWindow() {
    hub.windowTotal += windowBytes - countedBytes
    countedBytes = windowBytes
  }

  /// Notes that there is something new for the subscriptions.
  final func wake() {
    guard !isDirty else { return }
    isDirty = true
    hub.markDirty(self)
  }

  /// Tells the subscriptions that there is something new.
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

  /// Nobody watches any more.
  func stop() {
    observation?.dispose()
  }
}
