/// A disposable that runs a closure once.
@usableFromInline
package final class BlockDisposable: Disposable {
  private var handler: (() -> Void)?
  private let live = LiveNode("BlockDisposable")

  @usableFromInline
  package init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  @usableFromInline
  package var isDisposed: Bool { handler == nil }

  @usableFromInline
  package func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }
}
