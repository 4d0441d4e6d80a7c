public import Signals

precedencegroup DisposalPrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
  lowerThan: TernaryPrecedence
}

infix operator ++ : DisposalPrecedence

/// Binds the observable to the observer.
@_disfavoredOverload
@discardableResult
public func <~ <Observer: BindableProtocol, Observable: SignalProtocol>(
  observer: Observer, observable: Observable
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element {
  observable.bind(to: observer)
}

/// Binds the observable to the observer, which takes optionals.
@_disfavoredOverload
@discardableResult
public func <~ <Observer: BindableProtocol, Observable: SignalProtocol>(
  observer: Observer, observable: Observable
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element? {
  observable.bind(to: observer)
}

/// Calls the closure with each element, until the returned disposable is disposed.
@discardableResult
public func <~ <Observable: SignalProtocol>(
  observer: @escaping (Observable.Element) -> Void, observable: Observable
) -> any Disposable where Observable.Error == Never {
  observable.observeNext(with: observer)
}

/// Sends each event of the observable to the observer, until the returned disposable is disposed.
@discardableResult
public func <~ <Observable: SignalProtocol>(
  observer: AnyObserver<Observable.Element, Observable.Error>, observable: Observable
) -> any Disposable {
  observable.observe(with: observer)
}

/// Binds the observable to the observer.
@_disfavoredOverload
@discardableResult
public func ~> <Observable: SignalProtocol, Observer: BindableProtocol>(
  observable: Observable, observer: Observer
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element {
  observable.bind(to: observer)
}

/// Binds the observable to the observer, which takes optionals.
@_disfavoredOverload
@discardableResult
public func ~> <Observable: SignalProtocol, Observer: BindableProtocol>(
  observable: Observable, observer: Observer
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element? {
  observable.bind(to: observer)
}

/// Calls the closure with each element, until the returned disposable is disposed.
@discardableResult
public func ~> <Observable: SignalProtocol>(
  observable: Observable, observer: @escaping (Observable.Element) -> Void
) -> any Disposable where Observable.Error == Never {
  observable.observeNext(with: observer)
}

/// Adds a disposable to a bag, and returns the bag.
@discardableResult
public func ++ <Bag: DisposeBagProtocol>(bag: Bag, disposable: any Disposable) -> Bag {
  bag.add(disposable: disposable)
  return bag
}

/// Adds a disposable to a composite, and returns the composite.
@discardableResult
public func ++ (
  composite: CompositeDisposable, disposable: any Disposable
) -> CompositeDisposable {
  composite.add(disposable: disposable)
  return composite
}

/// The RxSugar members of an object: `view.rxs.disposeBag`.
public struct Sugar<Host: DisposeBagProvider> {
  /// The object.
  public let host: Host

  /// The bag of the object.
  public var disposeBag: DisposeBag { host.bag }

  /// Emits once and completes when the object is deallocated.
  public var onDeinit: SafeSignal<Void> { host.deallocated.append(()) }

  /// Returns a bond that calls `setter` with the object, which is not retained.
  public func valueSetter<Value>(_ setter: @escaping (Host, Value) -> Void) -> Bond<Value> {
    Bond(target: host, setter: setter)
  }
}

extension DisposeBagProvider {
  /// The RxSugar members of the object.
  public var rxs: Sugar<Self> { Sugar(host: self) }
}
