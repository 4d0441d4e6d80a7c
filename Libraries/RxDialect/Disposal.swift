@_exported public import Signals

/// A handle that ends a subscription.
public typealias Disposable = Signals.Disposable

/// Holds disposables until it is deallocated.
public typealias DisposeBag = Signals.DisposeBag

/// The disposables that a sequence returns from `create`.
public enum Disposables {
  /// Returns a disposable that does nothing.
  public static func create() -> any Disposable {
    NonDisposable.instance
  }

  /// Returns a disposable that calls a closure once.
  public static func create(with dispose: @escaping () -> Void) -> any Disposable {
    BlockDisposable(dispose)
  }

  /// Returns a disposable that disposes others, in this order.
  public static func create(_ disposables: any Disposable...) -> any Disposable {
    CompositeDisposable(disposables)
  }
}

extension Signals.Disposable {
  /// Adds this disposable to a bag.
  public func disposed(by bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Adds this disposable to a bag: the older name of ``disposed(by:)``.
  public func addDisposableTo(_ bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }
}

extension DisposeBagProvider {
  /// The bag of the object, which is disposed when the object is deallocated.
  public var rx_disposeBag: DisposeBag { bag }
}
