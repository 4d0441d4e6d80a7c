/// Takes disposables to dispose them later.
@usableFromInline
package protocol DisposeBagProtocol: Disposable {
  /// Adds one.
  func add(disposable: any Disposable)
}

/// Holds disposables and disposes them, newest first, when it is disposed or released.
///
/// A bag is disposed once: what is added later is disposed at once. A reusable one keeps the rule
/// of ReactiveKit instead, for views that are bound again and again: `dispose` empties it in the
/// order in which things came, it counts as disposed while it is empty, and it takes new ones.
@usableFromInline
package final class DisposeBag: DisposeBagProtocol {
  private let isReusable: Bool
  private var disposables = DisposableList()
  private var wasDisposed = false
  private var deallocation: ReplayOneSubject<Void, Never>?
  private let live = LiveNode("DisposeBag")

  @usableFromInline
  package init() {
    isReusable = false
  }

  /// A bag that can be reusable.
  package init(isReusable: Bool) {
    self.isReusable = isReusable
  }

  deinit {
    dispose()
    deallocation?.on(.completed)
  }

  /// Whether it was disposed; of a reusable bag, whether it is empty.
  @usableFromInline
  package var isDisposed: Bool { isReusable ? disposables.isEmpty : wasDisposed }

  /// How many are held: those that have ended are among them for a while.
  package var count: Int { disposables.count }

  /// Adds a disposable; a bag that was disposed disposes it at once, if it is not reusable.
  @usableFromInline
  package func add(disposable: any Disposable) {
    guard !wasDisposed else { return disposable.dispose() }
    disposables.append(disposable)
  }

  /// Adds disposables.
  package func add(disposables: [any Disposable]) {
    for disposable in disposables { add(disposable: disposable) }
  }

  /// Adds a disposable.
  package static func += (bag: DisposeBag, disposable: any Disposable) {
    bag.add(disposable: disposable)
  }

  /// Adds disposables.
  package static func += (bag: DisposeBag, disposables: [any Disposable]) {
    bag.add(disposables: disposables)
  }

  @usableFromInline
  package func dispose() {
    guard !isReusable else { return disposables.takeAll().forEach { $0.dispose() } }
    wasDisposed = true
    while let last = disposables.popLast() { last.dispose() }
  }

  /// Completes when the bag goes.
  package var deallocated: SafeSignal<Void> {
    let subject = deallocation ?? ReplayOneSubject()
    deallocation = subject
    return subject.toSignal()
  }
}
