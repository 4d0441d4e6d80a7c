/// A flag that records the disposal.
public final class SimpleDisposable: Disposable {
  public var isDisposed: Bool
  private let live = LiveNode("SimpleDisposable")

  public init(isDisposed: Bool = false) {
    self.isDisposed = isDisposed
  }

  public func dispose() {
    isDisposed = true
  }
}
