/// A disposable that runs a closure once.
public final class BlockDisposable: Disposable {
  private var handler: (() -> Void)?
  private let live = LiveNode("BlockDisposable")

  public init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  public var isDisposed: Bool { handler == nil }

  public func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }
}
