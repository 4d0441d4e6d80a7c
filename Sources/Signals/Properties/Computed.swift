/// A value that is computed on demand instead of on every change.
///
/// It is a description and stores no value. A reader recomputes the value after changes, once for
/// several changes. Readers of values with equal identities share the computation.
public struct Computed<Value> {
  /// The identity of the value; values with equal identities are equal.
  public let identity: Identity

  /// Computes the current value.
  public let value: () -> Value

  /// Emits when the value may have changed since the run started.
  public let changes: SafeSignal<Void>

  /// - Parameter identity: Covers everything that the value depends on.
  public init(
    _ identity: Identity, changes: SafeSignal<Void>, value: @escaping () -> Value
  ) {
    (self.identity, self.changes, self.value) = (identity, changes, value)
  }

  /// Returns the value converted to `type`.
  public func value<Shown: Rendering>(
    as type: Shown.Type
  ) -> Computed<Shown> where Shown.Value == Value {
    Computed<Shown>(identity.shown(as: type), changes: changes) { [value] in Shown(value()) }
  }
}

/// A presentation that depends only on the value, so that all readers can share it.
public protocol Rendering {
  associatedtype Value

  init(_ value: Value)
}

/// The identity of a description: equal for descriptions of the same value.
public struct Identity: Hashable {
  private let parts: [AnyHashable]

  private init(parts: [AnyHashable]) {
    self.parts = parts
  }

  /// - Parameters:
  ///   - owner: The object that the value belongs to. The description must retain it.
  ///   - parts: The values that identify the description among those of the owner.
  public init(_ owner: AnyObject, _ parts: AnyHashable...) {
    self.parts = [ObjectIdentifier(owner)] + parts
  }

  /// Returns the identity of the same value presented as `type`.
  public func shown<Shown>(as type: Shown.Type) -> Identity {
    Identity(parts: parts + [ObjectIdentifier(type)])
  }
}
