/// Disposes another disposable when it is deallocated.
public final class DeinitDisposable: Disposable {
  /// The other disposable, or `nil` once it is disposed.
  public var otherDisposable: (any Disposable)?
  private let live = LiveNode("DeinitDisposable")

  public init(disposable: any Disposable) {
    otherDisposable = disposable
  }

  deinit {
    dispose()
  }

  public var isDisposed: Bool { otherDisposable == nil }

  public func dispose() {
    let other = otherDisposable
    otherDisposable = nil
    other?.dispose()
  }
}
