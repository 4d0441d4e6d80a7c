internal import JSON
internal import Signals

/// Content that properties of several views share, so that it is computed and stored once.
///
/// A change only marks the feed as stale. The content is computed at the end of the turn, when the
/// first of the views is sent.
class ViewFeed {
  /// The key of a feed: its type and everything that its content depends on.
  struct Key: Hashable {
    private let type: ObjectIdentifier
    private let identity: Identity

    init(_ type: ViewFeed.Type, _ identity: Identity) {
      (self.type, self.identity) = (ObjectIdentifier(type), identity)
    }
  }

  let hub: Hub

  /// The observation of the source while views show the feed.
  var observation: (any Disposable)?

  /// The elements of a list; `nil` if the content is a value.
  var log: ListLog? { nil }

  private let key: Key
  private var viewers: [ViewProperty] = []
  private var isStale = false
  private let live = LiveNode("ViewFeed")

  init(_ key: Key, _ hub: Hub) {
    (self.key, self.hub) = (key, hub)
  }

  /// Computes the content.
  func make() {}

  /// Returns the content if it is a value.
  func text() -> JSONText { .null }

  /// Marks the content as stale.
  final func markStale() {
    guard !isStale else { return }
    isStale = true
    for viewer in viewers { viewer.feedHasNews(self) }
  }

  /// Computes the content if it is stale.
  final func refresh() {
    guard isStale else { return }
    isStale = false
    if let log { log.forget(before: viewers.lazy.compactMap(\.nextStep).min() ?? log.end) }
    make()
  }

  final func add(_ viewer: ViewProperty) {
    viewer.place = viewers.count
    viewers.append(viewer)
  }

  final func remove(_ viewer: ViewProperty) {
    guard viewer.place < viewers.count, viewers[viewer.place] === viewer else { return }
    viewers.swapAt(viewer.place, viewers.count - 1)
    viewers[viewer.place].place = viewer.place
    viewers.removeLast()
    guard viewers.isEmpty else { return }
    observation?.dispose()
    observation = nil
    hub.viewFeeds[key] = nil
  }
}

/// A value, computed and encoded once for all views that show it.
final class ValueFeed<Value: Encodable>: ViewFeed {
  private let computed: Computed<Value>
  private var made: JSONText?

  init(_ computed: Computed<Value>, _ hub: Hub) {
    self.computed = computed
    super.init(Key(ValueFeed.self, computed.identity), hub)
    observation = computed.changes.observeNext { [unowned self] in markStale() }
  }

  override func make() { made = nil }

  override func text() -> JSONText {
    refresh()
    if let made { return made }
    let text = hub.encoder.shown(computed.value())
    made = text
    return text
  }
}

/// A list that is computed as a whole, once for all views that show it.
final class ListFeed<Elements: Collection>: ViewFeed where Elements.Element: Encodable {
  private let computed: Computed<Elements>
  private let elements = ListLog()

  override var log: ListLog? { elements }

  init(_ computed: Computed<Elements>, _ hub: Hub) {
    self.computed = computed
    super.init(Key(ListFeed.self, computed.identity), hub)
    observation = computed.changes.observeNext { [unowned self] in markStale() }
    make()
  }

  override func make() { elements.become(computed.value().map(hub.encoder.shown)) }
}

extension JSONEncoder {
  /// Encodes a value for clients; `null` if it cannot be encoded.
  func shown(_ value: some Encodable) -> JSONText {
    if let text = value as? JSONText { return text }
    return (try? text(value)) ?? .null
  }
}
