/// Disposes the disposable that it currently holds.
///
/// Replacing the disposable does not dispose the previous one; the caller decides about it.
@usableFromInline
package final class SerialDisposable: Disposable {
  @usableFromInline
  package private(set) var isDisposed = false
  private let live = LiveNode("SerialDisposable")

  /// The disposable to dispose; set after the disposal, it is disposed at once.
  @usableFromInline
  package var otherDisposable: (any Disposable)? {
    didSet { if isDisposed { disposeOther() } }
  }

  @usableFromInline
  package init(otherDisposable: (any Disposable)?) {
    self.otherDisposable = otherDisposable
  }

  @usableFromInline
  package func dispose() {
    isDisposed = true
    disposeOther()
  }

  private func disposeOther() {
    guard let other = otherDisposable else { return }
    otherDisposable = nil  // before the call, so that a nested dispose is a no-op
    other.dispose()
  }
}
