precedencegroup DisposalPrecedence {
  associativity: left
  higherThan: AssignmentPrecedence
  lowerThan: TernaryPrecedence
}

infix operator ++ : DisposalPrecedence

/// The observer is told what the observable emits.
@_disfavoredOverload
@discardableResult
package func <~ <Observer: BindableProtocol, Observable: SignalProtocol>(
  observer: Observer, observable: Observable
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element {
  observable.bind(to: observer)
}

/// The observer, which takes optionals, is told what the observable emits.
@_disfavoredOverload
@discardableResult
package func <~ <Observer: BindableProtocol, Observable: SignalProtocol>(
  observer: Observer, observable: Observable
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element? {
  observable.bind(to: observer)
}

/// The closure is called with what the observable emits, for as long as that is not disposed.
@discardableResult
package func <~ <Observable: SignalProtocol>(
  observer: @escaping (Observable.Element) -> Void, observable: Observable
) -> any Disposable where Observable.Error == Never {
  observable.observeNext(with: observer)
}

/// The observer is told what the observable emits.
@_disfavoredOverload
@discardableResult
package func ~> <Observable: SignalProtocol, Observer: BindableProtocol>(
  observable: Observable, observer: Observer
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element {
  observable.bind(to: observer)
}

/// The observer, which takes optionals, is told what the observable emits.
@_disfavoredOverload
@discardableResult
package func ~> <Observable: SignalProtocol, Observer: BindableProtocol>(
  observable: Observable, observer: Observer
) -> any Disposable where Observable.Error == Never, Observer.Element == Observable.Element? {
  observable.bind(to: observer)
}

/// The closure is called with what the observable emits, for as long as that is not disposed.
@discardableResult
package func ~> <Observable: SignalProtocol>(
  observable: Observable, observer: @escaping (Observable.Element) -> Void
) -> any Disposable where Observable.Error == Never {
  observable.observeNext(with: observer)
}

/// Adds a disposable to a bag.
@discardableResult
package func ++ <Bag: DisposeBagProtocol>(bag: Bag, disposable: any Disposable) -> Bag {
  bag.add(disposable: disposable)
  return bag
}

/// Adds a disposable to others.
@discardableResult
package func ++ (
  composite: CompositeDisposable, disposable: any Disposable
) -> CompositeDisposable {
  composite.add(disposable: disposable)
  return composite
}
