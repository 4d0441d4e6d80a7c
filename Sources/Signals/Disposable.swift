/// Ends an observation, once; disposing twice is the same as disposing once.
package protocol Disposable {
  /// Whether it has ended.
  var isDisposed: Bool { get }

  /// Ends it.
  func dispose()
}

extension Disposable {
  /// Lets a bag dispose it.
  package func dispose(in bag: DisposeBag) {
    bag.add(disposable: self)
  }
}

/// Ends nothing.
package struct NonDisposable: Disposable {
  /// The only one there needs to be.
  package static let instance = NonDisposable()

  package var isDisposed: Bool { false }

  package func dispose() {}
}

/// Runs a closure once.
package final class BlockDisposable: Disposable {
  private var handler: (() -> Void)?

  package init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  package var isDisposed: Bool { handler == nil }

  package func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }
}

/// Holds disposables and disposes them, newest first, when it is disposed or released.
package final class DisposeBag: Disposable {
  private var disposables: [any Disposable] = []
  package private(set) var isDisposed = false

  package init() {}

  deinit {
    dispose()
  }

  /// Adds a disposable; a bag that is already disposed disposes it at once.
  package func add(disposable: any Disposable) {
    guard !isDisposed else { return disposable.dispose() }
    disposables.append(disposable)
  }

  package func dispose() {
    isDisposed = true
    while let last = disposables.popLast() { last.dispose() }
  }
}
