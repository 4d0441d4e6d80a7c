/// Disposes another disposable when it is deallocated.
package final class DeinitDisposable: Disposable {
  /// The other disposable, or `nil` once it is disposed.
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
