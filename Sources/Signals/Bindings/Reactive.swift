/// A namespace for the reactive extensions of a type: `object.reactive.…`.
package protocol ReactiveExtensions<Base> {
  associatedtype Base

  /// The extended value.
  var base: Base { get }
}

/// The reactive extensions of a value.
package struct Reactive<Base>: ReactiveExtensions {
  package let base: Base

  package init(_ base: Base) {
    self.base = base
  }
}

/// An object with reactive extensions.
package protocol ReactiveExtensionsProvider: AnyObject {}

extension ReactiveExtensionsProvider {
  /// The reactive extensions of the object.
  package var reactive: Reactive<Self> { Reactive(self) }

  /// The reactive extensions of the type.
  package static var reactive: Reactive<Self>.Type { Reactive<Self>.self }
}

extension ReactiveExtensions where Base: DisposeBagProvider {
  /// The bag of the object.
  package var bag: DisposeBag { base.bag }

  /// Completes when the object is deallocated.
  package var deallocated: SafeSignal<Void> { base.deallocated }
}
