/// A disposable that runs a closure once.
public final class BlockDisposable: Disposable {
  private var handler: (() -> Void)?
  private let live = LiveNode("BlockDisposable")

  /// Creates a disposable that runs a closure.
  public init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  /// Whether the resources are released.
  public var isDisposed: Bool { handler == nil }

  /// Runs the closure; later calls do nothing.
  public func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }
}
