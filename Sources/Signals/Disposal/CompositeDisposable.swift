/// Disposes several disposables in the order of addition.
///
/// One added after the disposal is disposed at once. Disposables that have already ended are
/// pruned.
public final class CompositeDisposable: Disposable {
  private var disposables = DisposableList()
  public private(set) var isDisposed = false
  private let live = LiveNode("CompositeDisposable")

  public init() {}

  public init(_ disposables: [any Disposable]) {
    for disposable in disposables { self.disposables.append(disposable) }
  }

  /// The number of disposables held, including ended ones that are not pruned yet.
  public var count: Int { disposables.count }

  /// Adds a disposable.
  public func add(disposable: any Disposable) {
    guard !isDisposed else { return disposable.dispose() }
    disposables.append(disposable)
  }

  /// Adds a disposable.
  public static func += (composite: CompositeDisposable, disposable: any Disposable) {
    composite.add(disposable: disposable)
  }

  public func dispose() {
    isDisposed = true
    for disposable in disposables.takeAll() { disposable.dispose() }
  }
}
