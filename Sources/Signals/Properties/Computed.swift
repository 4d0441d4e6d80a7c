/// A value that is computed when somebody wants to know it, and not whenever it changes.
///
/// It describes and keeps nothing. Who shows it computes it after changes, once for all of them, and
/// those who show values of the same identity share that.
package struct Computed<Value> {
  /// Values of the same identity are equal.
  package let identity: Identity

  /// Computes the value as it is now.
  package let value: () -> Value

  /// Tells from now on that the value may be another.
  package let changes: SafeSignal<Void>

  /// - Parameter identity: Says all that the value depends on.
  package init(
    _ identity: Identity, changes: SafeSignal<Void>, value: @escaping () -> Value
  ) {
    (self.identity, self.changes, self.value) = (identity, changes, value)
  }

  /// The same value in another form.
  package func value<Shown: Rendering>(
    as type: Shown.Type
  ) -> Computed<Shown> where Shown.Value == Value {
    Computed<Shown>(identity.shown(as: type), changes: changes) { [value] in Shown(value()) }
  }
}

/// A value as it is shown: it follows from the value, and from nothing else, so that all who show it
/// share it.
package protocol Rendering {
  associatedtype Value

  init(_ value: Value)
}

/// What is the same of two descriptions that describe the same.
package struct Identity: Hashable {
  private let parts: [AnyHashable]

  private init(parts: [AnyHashable]) {
    self.parts = parts
  }

  /// - Parameters:
  ///   - owner: Whose it is; what describes it holds the owner.
  ///   - parts: Which it is, of those of the owner.
  package init(_ owner: AnyObject, _ parts: AnyHashable...) {
    self.parts = [ObjectIdentifier(owner)] + parts
  }

  /// That of the same in the form of a type.
  package func shown<Shown>(as type: Shown.Type) -> Identity {
    Identity(parts: parts + [ObjectIdentifier(type)])
  }
}
