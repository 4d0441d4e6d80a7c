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
  private var isDirty = false

  /// - Parameter keepsWindow: Whether it keeps some of what has happened, in its part of the memory
  ///   that the hub has for all.
  init(_ key: String, _ hub: Hub, keepsWindow: Bool = false) {
    self.key = key
    self.hub = hub
    self.keepsWindow = keepsWindow
    if keepsWindow { hub.windowCount += 1 }
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
    for subscriber in subscribers { subscriber.markDirty() }
  }

  final func add(_ subscriber: Subscription) {
    subscribers.append(subscriber)
  }

  final func remove(_ subscriber: Subscription) {
    guard let i = subscribers.lastIndex(where: { $0 === subscriber }) else { return }
    subscribers.swapAt(i, subscribers.count - 1)
    subscribers.removeLast()
    guard subscribers.isEmpty else { return }
    if keepsWindow { hub.windowCount -= 1 }
    stop()
    hub.dropFeed(key)
  }

  /// Nobody watches any more.
  func stop() {
    observation?.dispose()
  }
}
