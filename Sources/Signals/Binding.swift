/// What a signal can be bound to: something that ends, and drops what was bound to it then.
package protocol DisposeBagProvider: AnyObject {
  /// Disposed when the object goes.
  var bag: DisposeBag { get }
}

extension SignalProtocol where Error == Never {
  /// Calls `setter` with the target and each element, for as long as the target lives.
  ///
  /// The target is not retained, so binding an object to itself makes no cycle; that is why
  /// `setter` is given the target instead of capturing it. The signal is retained by the target's
  /// bag, so a service lives as long as what is bound to it.
  @discardableResult
  package func bind<Target: DisposeBagProvider>(
    to target: Target, setter: @escaping (Target, Element) -> Void
  ) -> any Disposable {
    let source = self
    let run = source.observeNext { [weak target] element in
      if let target { setter(target, element) }
    }
    let binding = BlockDisposable {
      withExtendedLifetime(source) {}
      run.dispose()
    }
    target.bag.add(disposable: binding)
    return binding
  }
}
