/// A namespace for the reactive extensions of a type: `object.reactive.…`.
public protocol ReactiveExtensions<Base> {
  associatedtype Base

  /// The extended value.
  var base: Base { get }
}

/// The reactive extensions of a value.
public struct Reactive<Base>: ReactiveExtensions {
  public let base: Base

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
