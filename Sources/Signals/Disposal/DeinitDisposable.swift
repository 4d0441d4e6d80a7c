/// Disposes another when it is released.
package final class DeinitDisposable: Disposable {
  /// The other; `nil` when it was disposed.
  package var otherDisposable: (any Disposable)?
  private let live = LiveNode("DeinitDisposable")

  package init(disposable: any Disposable) {
    otherDisposable = disposable
  }

  deinit {
    dispose()
  }

  @usableFromInline
  package var isDisposed: Bool { otherDisposable == nil }

  @usableFromInline
  package func dispose() {
    let other = otherDisposable
    otherDisposable = nil
    other?.dispose()
  }
}
