/// Disposes another disposable when it is deallocated.
public final class DeinitDisposable: Disposable {
  /// The other disposable, or `nil` once it is disposed.
  public var otherDisposable: (any Disposable)?
  private let live = LiveNode("DeinitDisposable")

  /// Creates an object that disposes a disposable when it is deallocated.
  public init(disposable: any Disposable) {
    otherDisposable = disposable
  }

  deinit {
    dispose()
  }

  /// Whether the resources are released.
  public var isDisposed: Bool { otherDisposable == nil }

  /// Disposes the other disposable and removes the reference to it.
  public func dispose() {
    let other = otherDisposable
    otherDisposable = nil
    other?.dispose()
  }
}
