internal import Signals

/// The steps of one list or map, for all that watch it: a window of them is kept in memory.
final class CollectionFeed: Feed {
  /// How many bytes of steps are kept, when there are few feeds; who is further behind gets the
  /// whole.
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

  /// Steps since the feed was made.
  var count: Int { window.endIndex }

  /// The first that is kept.
  var start: Int { window.firstIndex }

  /// A step that is kept, by its number.
  subscript(index: Int) -> String { window[index] }

  private func receive(_ step: CollectionStep) {
    seq = step.seq
    window.append(step.text)
    window.trim(to: hub.windowBytes(atMost: Self.capacity))
    wake()
  }

  override func trim(to capacity: Int) { window.trim(to: capacity) }

  override var windowBytes: Int { window.bytes }
}
