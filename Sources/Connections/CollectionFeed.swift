internal import Facts
internal import Signals

/// The recent steps of one list or map, shared by all its subscriptions.
final class CollectionFeed: Feed {
  /// The most bytes of steps to keep if there are few feeds.
  ///
  /// A subscriber further behind gets the whole collection.
  static let capacity = 256 << 10

  let source: CollectionSource

  /// The position of the last step.
  private(set) var seq: UInt64 = 0

  private var window = Window<String>()

  init(_ source: CollectionSource, _ key: String, _ hub: Hub) {
    self.source = source
    super.init(key, hub, keepsWindow: true)
    observation = source.steps.observeNext { [unowned self] in receive($0) }
  }

  /// The number of steps since the feed was created.
  var count: Int { window.endIndex }

  /// The index of the first retained step.
  var start: Int { window.firstIndex }

  /// A retained step, by its index.
  subscript(index: Int) -> String { window[index] }

  private func receive(_ step: CollectionStep) {
    seq = step.seq
    window.append(step.change.text)
    window.trim(to: hub.windowBytes(atMost: Self.capacity))
    wake()
  }

  override func trim(to capacity: Int) { window.trim(to: capacity) }

  override var windowBytes: Int { window.bytes }
}
