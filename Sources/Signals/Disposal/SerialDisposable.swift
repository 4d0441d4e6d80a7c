/// Disposes the disposable that it currently holds.
///
/// Replacing the disposable does not dispose the previous one; the caller decides about it.
public final class SerialDisposable: Disposable {
  public private(set) var isDisposed = false
  private let live = LiveNode("SerialDisposable")

  /// The disposable to dispose; set after the disposal, it is disposed at once.
  public var otherDisposable: (any Disposable)? {
    didSet { if isDisposed { disposeOther() } }
  }

  public init(otherDisposable: (any Disposable)?) {
    self.otherDisposable = otherDisposable
  }

  public func dispose() {
    isDisposed = true
    disposeOther()
  }

  private func disposeOther() {
    guard let other = otherDisposable else { return }
    otherDisposable = nil  // before the call, so that a nested dispose is a no-op
    other.dispose()
  }
}
