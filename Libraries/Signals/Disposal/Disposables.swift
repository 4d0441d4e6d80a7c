/// A handle that ends an observation; disposing it twice has no further effect.
public protocol Disposable: Cancellable {
  /// Whether the observation has ended or was disposed.
  var isDisposed: Bool { get }

  /// Ends the observation.
  func dispose()
}

/// A type that can be cancelled.
public protocol Cancellable {
  /// Cancels the activity.
  func cancel()
}

extension Disposable {
  /// Ends the observation, like ``dispose()``.
  public func cancel() {
    dispose()
  }

  /// Adds this disposable to a bag.
  public func dispose(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Adds this disposable to a bag.
  public func store(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }
}

/// A disposable that does nothing.
public struct NonDisposable: Disposable, Sendable {
  /// The shared instance.
  public static let instance = NonDisposable()

  /// Whether the resources are released; always `false`, because there are none.
  public var isDisposed: Bool { false }

  /// Does nothing.
  public func dispose() {}
}

/// A disposable of an observation that has already ended.
@usableFromInline
struct EndedDisposable: Disposable {
  @inlinable
  init() {}

  @usableFromInline
  var isDisposed: Bool { true }

  @usableFromInline
  func dispose() {}
}

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

/// Disposes the disposable that it currently holds.
///
/// Replacing the disposable does not dispose the previous one; the caller decides about it.
public final class SerialDisposable: Disposable {
  /// Whether the resources are released.
  public private(set) var isDisposed = false
  private let live = LiveNode("SerialDisposable")

  /// The disposable to dispose; set after the disposal, it is disposed at once.
  public var otherDisposable: (any Disposable)? {
    didSet { if isDisposed { disposeOther() } }
  }

  /// Creates a disposable that holds another one; `nil` for none.
  public init(otherDisposable: (any Disposable)?) {
    self.otherDisposable = otherDisposable
  }

  /// Releases the resources; later calls do nothing.
  public func dispose() {
    isDisposed = true
    disposeOther()
  }

  private func disposeOther() {
    guard let other = otherDisposable else { return }
    otherDisposable = nil  // before the call, so that a nested dispose is a no-op
    other.dispose()
  }
}

/// Disposes several disposables in the order of addition.
///
/// One added after the disposal is disposed at once. Disposables that have already ended are
/// pruned.
public final class CompositeDisposable: Disposable {
  private var disposables = DisposableList()
  /// Whether the resources are released.
  public private(set) var isDisposed = false
  private let live = LiveNode("CompositeDisposable")

  /// Creates a composite without disposables.
  public init() {}

  /// Creates a composite from disposables.
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

  /// Releases the resources; later calls do nothing.
  public func dispose() {
    isDisposed = true
    for disposable in disposables.removeAll() { disposable.dispose() }
  }
}

/// Disposes another disposable when it is deallocated.
public final class DeinitDisposable: Disposable {
  /// The other disposable, or `nil` once it is disposed.
  public var otherDisposable: (any Disposable)?
  private let live = LiveNode("DeinitDisposable")

  /// Creates an object that disposes a disposable when it is deallocated.
  public init(disposable: any Disposable) {
    otherDisposable = disposable
  }

  deinit {
    dispose()
  }

  /// Whether the resources are released.
  public var isDisposed: Bool { otherDisposable == nil }

  /// Disposes the other disposable and removes the reference to it.
  public func dispose() {
    let other = otherDisposable
    otherDisposable = nil
    other?.dispose()
  }
}
