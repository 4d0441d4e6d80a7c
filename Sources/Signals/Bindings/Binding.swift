/// A binding that retains its source, but not its target.
///
/// The target owns the binding, directly or through a bag. The source therefore lives as long as
/// the target.
private final class Binding: Disposable {
  private var source: Any?
  private let run = SerialDisposable(otherDisposable: nil)
  private let live = LiveNode("Binding")

  init(_ source: Any) {
    self.source = source
  }

  var isDisposed: Bool { run.isDisposed }

  func start(_ observe: () -> any Disposable) {
    run.otherDisposable = observe()
  }

  func dispose() {
    let source = source
    self.source = nil
    run.dispose()
    // Release the source last: it may be deallocated here and call back.
    withExtendedLifetime(source) {}
  }
}

extension Deallocatable {
  /// Retains a disposable until the object is deallocated, and then disposes it.
  fileprivate func keep(_ disposable: any Disposable) {
    if let provider = self as? any DisposeBagProvider {
      provider.bag.add(disposable: disposable)
    } else {
      _ = deallocated.observeCompleted { disposable.dispose() }
    }
  }
}

extension SignalProtocol where Error == Never {
  /// Calls `setter` with the target and each element until either ends; passes the binding to
  /// `keep`.
  private func bind<Target: AnyObject>(
    weakly target: Target, context: ExecutionContext?, keep: (any Disposable) -> Void,
    setter: @escaping (Target, Element) -> Void
  ) -> any Disposable {
    let binding = Binding(self)
    binding.start {
      observe { [weak target] event in
        switch event {
        case .next(let element):
          guard let target else { return }
          guard let context else { return setter(target, element) }
          context.execute { [weak target] in
            if let target, !binding.isDisposed { setter(target, element) }
          }
        case .completed: binding.dispose()
        }
      }
    }
    if !binding.isDisposed { keep(binding) }
    return binding
  }

  /// Calls `setter` with the subject and each element while the subject lives.
  func bind<Value, Failure>(
    to subject: Subject<Value, Failure>,
    setter: @escaping (Subject<Value, Failure>, Element) -> Void
  ) -> any Disposable {
    bind(
      weakly: subject, context: nil, keep: subject.disposeBag.add(disposable:), setter: setter)
  }

  /// Calls `setter` with the target and each element while the target lives.
  ///
  /// The target is not retained, so binding an object to itself makes no cycle. For this reason
  /// `setter` receives the target instead of capturing it. The target's bag retains the signal, so
  /// a service lives as long as its bound objects.
  @discardableResult
  public func bind<Target: Deallocatable>(
    to target: Target, context: ExecutionContext? = nil,
    setter: @escaping (Target, Element) -> Void
  ) -> any Disposable {
    bind(weakly: target, context: context, keep: target.keep, setter: setter)
  }

  /// Sets a property of the target to each element while the target lives.
  @discardableResult
  public func bind<Target: Deallocatable>(
    to target: Target, keyPath: ReferenceWritableKeyPath<Target, Element>,
    context: ExecutionContext? = nil
  ) -> any Disposable {
    bind(to: target, context: context) { $0[keyPath: keyPath] = $1 }
  }
}

extension SignalProtocol where Error == Never, Element == Void {
  /// Calls `setter` with the target for each element while the target lives.
  @discardableResult
  public func bind<Target: Deallocatable>(
    to target: Target, context: ExecutionContext? = nil, setter: @escaping (Target) -> Void
  ) -> any Disposable {
    bind(to: target, context: context) { target, _ in setter(target) }
  }
}
