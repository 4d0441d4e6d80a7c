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

/// A target that a signal can be bound to.
public protocol BindableProtocol<Element> {
  associatedtype Element

  /// Sets the target to each element of `signal`, until the signal or the target ends.
  func bind(signal: SafeSignal<Element>) -> any Disposable
}

/// A shorter name for ``BindableProtocol``.
public typealias Bindable = BindableProtocol

extension SignalProtocol where Error == Never {
  /// Sets the target to each element while the target lives.
  @discardableResult
  public func bind<Target: BindableProtocol>(
    to bindable: Target
  ) -> any Disposable where Target.Element == Element {
    bindable.bind(signal: toSignal())
  }

  /// Sets the target, which takes optionals, to each element while the target lives.
  @_disfavoredOverload
  @discardableResult
  public func bind<Target: BindableProtocol>(
    to bindable: Target
  ) -> any Disposable where Target.Element == Element? {
    bindable.bind(signal: Signal(takingOver: self).map(Optional.some))
  }
}

extension Subject: BindableProtocol {
  /// Sends each element of `signal` to the subject, until the signal or the subject ends.
  public func bind(signal: SafeSignal<Element>) -> any Disposable {
    signal.bind(to: self) { $0.send($1) }
  }
}

extension BindableProtocol where Self: SignalProtocol, Error == Never {
  /// Keeps two values equal: `other` takes this value first, then each side updates the other.
  ///
  /// Updates stop when both sides have sent the same value. A value that an observer sets on one
  /// side in response also reaches the other. `other` retains this side.
  @discardableResult
  public func bidirectionalBind<Other: BindableProtocol & SignalProtocol>(
    to other: Other
  ) -> any Disposable
  where Other.Element == Element, Other.Error == Never, Element: Equatable {
    bidirectionalBind(to: other, areEqual: ==)
  }

  /// Keeps two values equal: `other` takes this value first, then each side updates the other.
  ///
  /// - Parameter areEqual: Returns whether two values are equal, so that no side must be set.
  @discardableResult
  public func bidirectionalBind<Other: BindableProtocol & SignalProtocol>(
    to other: Other, areEqual: @escaping (Element, Element) -> Bool
  ) -> any Disposable where Other.Element == Element, Other.Error == Never {
    let agreement = Agreement(areEqual)
    let there = toSignal().filter(agreement.isNews).bind(to: other)
    // A relay, so that this side does not retain `other`, which retains this side.
    let relay = PassthroughSubject<Element, Never>()
    let back = relay.bind(to: self)
    let echo = other.observe { event in
      // Ignore the values that `other` had before the binding.
      if let element = event.element, !agreement.isNewsFromOther(element) { return }
      relay.on(event)
    }
    agreement.isStarting = false
    return CompositeDisposable([there, back, echo])
  }
}

/// The value that both sides have agreed on.
private final class Agreement<Element> {
  private let areEqual: (Element, Element) -> Bool
  private var value: Element?
  /// Whether values from the other side predate the binding.
  var isStarting = true
  private let live = LiveNode("Agreement")

  init(_ areEqual: @escaping (Element, Element) -> Bool) {
    self.areEqual = areEqual
  }

  /// Returns whether a value differs from the agreed one, and makes it the agreed one.
  func isNews(_ element: Element) -> Bool {
    if let value, areEqual(value, element) { return false }
    value = element
    return true
  }

  /// Returns whether a value from the other side differs from the agreed one.
  ///
  /// While the binding starts, it returns `false` if this side has already sent a value.
  func isNewsFromOther(_ element: Element) -> Bool {
    if isStarting, value != nil { return false }
    return isNews(element)
  }
}

/// A namespace for the reactive extensions of a type: `object.reactive.…`.
public protocol ReactiveExtensions<Base> {
  associatedtype Base

  /// The extended value.
  var base: Base { get }
}

/// The reactive extensions of a value.
public struct Reactive<Base>: ReactiveExtensions {
  /// The extended value.
  public let base: Base

  /// Creates the extensions of a value.
  public init(_ base: Base) {
    self.base = base
  }
}

/// An object with reactive extensions.
public protocol ReactiveExtensionsProvider: AnyObject {}

extension ReactiveExtensionsProvider {
  /// The reactive extensions of the object.
  public var reactive: Reactive<Self> { Reactive(self) }

  /// The reactive extensions of the type.
  public static var reactive: Reactive<Self>.Type { Reactive<Self>.self }
}

extension ReactiveExtensions where Base: DisposeBagProvider {
  /// The bag of the object.
  public var bag: DisposeBag { base.bag }

  /// Completes when the object is deallocated.
  public var deallocated: SafeSignal<Void> { base.deallocated }
}
