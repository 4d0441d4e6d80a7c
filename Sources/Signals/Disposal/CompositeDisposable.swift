/// Disposes many, in the order in which they came; one that comes after is disposed at once.
///
/// Those that have ended by themselves are let go.
@usableFromInline
package final class CompositeDisposable: Disposable {
  private var disposables = DisposableList()
  @usableFromInline
  package private(set) var isDisposed = false
  private let live = LiveNode("CompositeDisposable")

  @usableFromInline
  package init() {}

  @usableFromInline
  package init(_ disposables: [any Disposable]) {
    for disposable in disposables { self.disposables.append(disposable) }
  }

  /// How many are held: those that have ended are among them for a while.
  package var count: Int { disposables.count }

  /// Adds one.
  @usableFromInline
  package func add(disposable: any Disposable) {
    guard !isDisposed else { return disposable.dispose() }
    disposables.append(disposable)
  }

  /// Adds one.
  package static func += (composite: CompositeDisposable, disposable: any Disposable) {
    composite.add(disposable: disposable)
  }

  @usableFromInline
  package func dispose() {
    isDisposed = true
    for disposable in disposables.takeAll() { disposable.dispose() }
  }
}
