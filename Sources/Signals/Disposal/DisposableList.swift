/// Disposables in the order in which they came, without those that have ended.
///
/// Adding is O(1) on average: the ended ones are dropped each time the list has doubled.
struct DisposableList {
  private var items: [any Disposable] = []
  private var nextPruning = 16

  var isEmpty: Bool { items.isEmpty }

  /// How many are held, ended ones included.
  var count: Int { items.count }

  mutating func append(_ disposable: any Disposable) {
    if items.count >= nextPruning {
      items.removeAll { $0.isDisposed || $0 is NonDisposable }
      nextPruning = max(16, items.count * 2)
    }
    items.append(disposable)
  }

  /// Takes the newest away.
  mutating func popLast() -> (any Disposable)? {
    items.popLast()
  }

  /// Takes all away.
  mutating func takeAll() -> [any Disposable] {
    let all = items
    items = []
    return all
  }
}
