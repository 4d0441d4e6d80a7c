/// A flag that records the disposal.
public final class SimpleDisposable: Disposable {
  /// Whether the disposal is recorded.
  public var isDisposed: Bool
  private let live = LiveNode("SimpleDisposable")

  /// Creates a flag; by default no disposal is recorded.
  public init(isDisposed: Bool = false) {
    self.isDisposed = isDisposed
  }

  /// Records the disposal; later calls do nothing.
  public func dispose() {
    isDisposed = true
  }
}
