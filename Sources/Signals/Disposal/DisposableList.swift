/// A list of disposables in the order of addition, without those that have ended.
///
/// Appending is amortized O(1): ended disposables are pruned each time the list has doubled.
struct DisposableList {
  private var items: [any Disposable] = []
  private var nextPruning = 16

  var isEmpty: Bool { items.isEmpty }

  /// The number of disposables held, including ended ones.
  var count: Int { items.count }

  mutating func append(_ disposable: any Disposable) {
    if items.count >= nextPruning {
      items.removeAll { $0.isDisposed || $0 is NonDisposable }
      nextPruning = max(16, items.count * 2)
    }
    items.append(disposable)
  }

  /// Removes and returns the newest disposable.
  mutating func popLast() -> (any Disposable)? {
    items.popLast()
  }

  /// Removes and returns all disposables.
  mutating func takeAll() -> [any Disposable] {
    let all = items
    items = []
    return all
  }
}
