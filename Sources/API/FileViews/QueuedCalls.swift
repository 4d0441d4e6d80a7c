internal import Connections
internal import JSON
internal import Signals

/// The queued calls of one intent of a view, which shows why the last one has failed.
///
/// The intent is answered before the call is run, so that the answer cannot say it. A property with
/// the hint `quiet` does.
final class QueuedCalls {
  /// The most calls that are watched; a failure of an older one is not shown.
  private static let most = 16

  private let property: String
  private unowned let view: View
  private var hasFailed = false
  private var watches: [(call: UInt64, watch: any Disposable)] = []

  /// - Parameter intent: The name of the intent; `INTENT_failed` is that of the property.
  init(of intent: String, on view: View) {
    property = Self.property(of: intent)
    self.view = view
    view[property].hint(.quiet).set(JSONText.null)
    view.bag.add(disposable: BlockDisposable { [self] in end() })
  }

  /// Returns the name of the property for an intent.
  static func property(of intent: String) -> String { intent + "_failed" }

  /// Watches a call.
  ///
  /// - Parameter outcomes: Sends why the call has failed, or `nil` when it has succeeded.
  func add(_ call: UInt64, _ outcomes: SafeSignal<String?>) {
    if hasFailed { view[property].set(JSONText.null) }
    hasFailed = false
    if watches.count == Self.most { watches.removeFirst().watch.dispose() }
    let watch = outcomes.observeNext { [weak self] failure in self?.end(call, failure) }
    watches.append((call, watch))
  }

  private func end(_ call: UInt64, _ failure: String?) {
    guard let i = watches.firstIndex(where: { $0.call == call }) else { return }
    watches.remove(at: i).watch.dispose()
    guard let failure else { return }
    hasFailed = true
    view[property].set(failure)
  }

  private func end() {
    for watch in watches { watch.watch.dispose() }
    watches = []
  }
}
