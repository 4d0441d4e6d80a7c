/// A collection of disposables that are disposed later.
public protocol DisposeBagProtocol: Disposable {
  /// Adds a disposable.
  func add(disposable: any Disposable)
}

/// Holds disposables and disposes them, newest first, when it is disposed or deallocated.
///
/// A bag can be disposed once. Disposables added after that are disposed at once. A reusable bag
/// follows ReactiveKit's rule, for views that are bound repeatedly. Its `dispose` empties it in the
/// order of addition, it counts as disposed while empty, and it accepts new disposables.
public final class DisposeBag: DisposeBagProtocol {
  private let isReusable: Bool
  private var disposables = DisposableList()
  private var wasDisposed = false

  /// Reports the deallocation; made on first use.
  var deallocation: (any DeallocationReport)?
  private let live = LiveNode("DisposeBag")

  /// Creates a bag that can be disposed once.
  public init() {
    isReusable = false
  }

  /// Creates a bag that is optionally reusable.
  public init(isReusable: Bool) {
    self.isReusable = isReusable
  }

  deinit {
    dispose()
    deallocation?.complete()
  }

  /// Whether the bag was disposed; for a reusable bag, whether it is empty.
  public var isDisposed: Bool { isReusable ? disposables.isEmpty : wasDisposed }

  /// The number of disposables held, including ended ones that are not pruned yet.
  public var count: Int { disposables.count }

  /// Adds a disposable; a non-reusable bag that was disposed disposes it at once.
  public func add(disposable: any Disposable) {
    guard !wasDisposed else { return disposable.dispose() }
    disposables.append(disposable)
  }

  /// Adds several disposables.
  public func add(disposables: [any Disposable]) {
    for disposable in disposables { add(disposable: disposable) }
  }

  /// Adds a disposable.
  public static func += (bag: DisposeBag, disposable: any Disposable) {
    bag.add(disposable: disposable)
  }

  /// Adds several disposables.
  public static func += (bag: DisposeBag, disposables: [any Disposable]) {
    bag.add(disposables: disposables)
  }

  /// Disposes the contents: newest first, or in the order of addition if the bag is reusable.
  public func dispose() {
    guard !isReusable else { return disposables.removeAll().forEach { $0.dispose() } }
    wasDisposed = true
    while let last = disposables.popLast() { last.dispose() }
  }
}

/// Receives the report of a bag when it is deallocated; see ``DisposeBag/deallocated``.
protocol DeallocationReport: AnyObject {
  func complete()
}

/// An object that signals its deallocation, so that it can be the target of a binding.
public protocol Deallocatable: AnyObject {
  /// Completes when the object is deallocated.
  var deallocated: SafeSignal<Void> { get }
}

/// An object that holds disposables until it is deallocated.
public protocol DisposeBagProvider: Deallocatable {
  /// A bag that is disposed when the object is deallocated.
  var bag: DisposeBag { get }
}

extension DisposeBagProvider {
  /// Completes when the bag of the object is deallocated.
  public var deallocated: SafeSignal<Void> { bag.deallocated }
}

/// A list of disposables in the order of addition, without those that have ended.
///
/// Appending is amortized O(1): ended disposables are pruned each time the list has doubled.
struct DisposableList {
  private var items: [any Disposable] = []
  private var nextPruning = 16

  var isEmpty: Bool { items.isEmpty }

  /// The number of disposables held, including ended ones.
  var count: Int { items.count }

  mutating func append(_ disposable: any Disposable) {
    if items.count >= nextPruning {
      items.removeAll { $0.isDisposed || $0 is NonDisposable }
      nextPruning = max(16, items.count * 2)
    }
    items.append(disposable)
  }

  /// Removes and returns the newest disposable.
  mutating func popLast() -> (any Disposable)? {
    items.popLast()
  }

  /// Removes and returns all disposables.
  mutating func removeAll() -> [any Disposable] {
    let all = items
    items = []
    return all
  }
}
