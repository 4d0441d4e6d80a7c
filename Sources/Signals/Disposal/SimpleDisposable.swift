/// A flag that records the disposal.
package final class SimpleDisposable: Disposable {
  @usableFromInline
  package var isDisposed: Bool
  private let live = LiveNode("SimpleDisposable")

  package init(isDisposed: Bool = false) {
    self.isDisposed = isDisposed
  }

  @usableFromInline
  package func dispose() {
    isDisposed = true
  }
}
