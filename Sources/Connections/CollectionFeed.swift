internal import Signals

/// The steps of one list or map, for all that watch it: a window of them is kept in memory.
final class CollectionFeed: Feed {
  /// How many bytes of steps are kept, when there are few feeds; who is further behind gets the
  /// whole.
  static let capacity = 256 << 10

  let source: CollectionSource

  /// Steps since the feed was made.
  private(set) var count: UInt64 = 0

  /// The position of the last of them.
  private(set) var seq: UInt64 = 0

  /// The first that is kept.
  private(set) var start: UInt64 = 0

  /// The steps that are kept, behind `dropped` places of those that are not any more.
  private var steps: [String] = []
  private var dropped = 0
  private var bytes = 0

  private let hub: Hub
  private var subscribers: [CollectionSubscription] = []
  private var isDirty = false
  private var observation: (any Disposable)?

  init(_ source: CollectionSource, _ hub: Hub) {
    self.source = source
    self.hub = hub
    hub.windowCount += 1
    observation = source.steps.observeNext { [unowned self] in receive($0) }
  }

  /// The steps from a count on, which must be kept.
  subscript(from count: UInt64) -> ArraySlice<String> {
    steps[(dropped + Int(count - start))...]
  }

  private func receive(_ step: CollectionStep) {
    count += 1
    seq = step.seq
    steps.append(step.text)
    bytes += step.text.utf8.count
    let capacity = hub.windowBytes(atMost: Self.capacity)
    while bytes > capacity {
      bytes -= steps[dropped].utf8.count
      steps[dropped] = ""
      dropped += 1
      start += 1
    }
    if dropped > 1024, dropped > steps.count / 2 {
      steps.removeFirst(dropped)
      dropped = 0
    }
    guard !isDirty else { return }
    isDirty = true
    hub.markDirty(self)
  }

  func markSubscribers() {
    isDirty = false
    for subscriber in subscribers { subscriber.markDirty() }
  }

  func add(_ subscriber: CollectionSubscription) {
    subscribers.append(subscriber)
  }

  func remove(_ subscriber: CollectionSubscription) {
    subscribers.removeAll { $0 === subscriber }
    guard subscribers.isEmpty else { return }
    hub.windowCount -= 1
    observation?.dispose()
    hub.dropFeed(Self.key(source.name))
  }

  static func key(_ name: String) -> String { "collection " + name }
}
