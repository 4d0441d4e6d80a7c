/// A value that can be read and observed.
///
/// An observer receives the current value at once, then each new value. It receives the completion
/// when the property is deallocated. A value set during a delivery is sent after that delivery, so
/// every observer ends with the newest value. ``value`` changes at once.
public final class Property<Value>: ValueNode<Value>, PropertyProtocol, DerivableProperty,
  DisposeBagProvider
{
  @inlinable
  public override init(_ value: Value) {
    super.init(value)
  }

  /// The current value; during a delivery it is the newest one.
  @inlinable
  public var value: Value {
    get { stored }
    set { if isTerminated { stored = newValue } else { on(.next(newValue)) } }
  }

  /// Changes the value in place and notifies the observers once.
  ///
  /// It avoids the copy of a large value that `value = …` makes.
  @inlinable
  public func update<Result>(_ body: (inout Value) -> Result) -> Result {
    let result = body(&stored)
    if isObserved { on(.next(stored)) } else { version &+= 1 }
    return result
  }

  /// Changes the value without notifying the observers.
  public func silentUpdate(value: Value) {
    stored = value
    version &+= 1
  }

  /// Changes the value in place without notifying the observers.
  public func silentUpdate(_ body: (inout Value) -> Void) {
    body(&stored)
    version &+= 1
  }

  /// A read-only view of this property.
  public var readOnlyView: AnyProperty<Value> { AnyProperty(property: self) }

  /// The bag that is disposed with this object.
  public var bag: DisposeBag { disposeBag }

  /// The node that stores the value: the property itself.
  public var node: ValueNode<Value> { self }
}
