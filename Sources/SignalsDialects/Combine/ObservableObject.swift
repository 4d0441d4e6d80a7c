public import Signals

/// An object that emits before it changes.
///
/// By default it emits before each change of its ``Published`` properties.
public protocol ObservableObject: AnyObject {
  associatedtype ObjectWillChangeSignal: SignalProtocol = SafeSignal<Void>
  where ObjectWillChangeSignal.Error == Never

  /// Emits before each change.
  var objectWillChange: ObjectWillChangeSignal { get }
}

extension ObservableObject where ObjectWillChangeSignal == SafeSignal<Void> {
  /// Emits before each change of a ``Published`` property of the object.
  public var objectWillChange: SafeSignal<Void> {
    var changes: [SafeSignal<Void>] = []
    var mirror: Mirror? = Mirror(reflecting: self)
    while let present = mirror {
      changes += present.children.compactMap { ($0.value as? any PublishedProtocol)?.willChange }
      mirror = present.superclassMirror
    }
    return Signal(flattening: changes, strategy: .merge)
  }
}
