/// A value that can be read now and observed from now on.
///
/// An observer is told the present value at once, then every later one, and of the end when the
/// property goes. A value set while another is being told waits its turn: every observer ends with
/// the newest, while ``value`` is the newest at once.
@usableFromInline
package final class Property<Value>: ValueNode<Value>, PropertyProtocol, DerivableProperty,
  DisposeBagProvider
{
  @inlinable
  package override init(_ value: Value) {
    super.init(value)
  }

  /// The value; whoever is told of a new one reads the new one.
  @inlinable
  package var value: Value {
    get { stored }
    set { if isTerminated { stored = newValue } else { on(.next(newValue)) } }
  }

  /// Changes the value in place and tells of it once.
  ///
  /// A large value is not copied, as it is by `value = …`.
  @inlinable
  package func update<Result>(_ body: (inout Value) -> Result) -> Result {
    let result = body(&stored)
    if isObserved { on(.next(stored)) } else { version &+= 1 }
    return result
  }

  /// Changes the value and tells nobody.
  package func silentUpdate(value: Value) {
    stored = value
    version &+= 1
  }

  /// The same, to be read and observed only.
  package var readOnlyView: AnyProperty<Value> { AnyProperty(property: self) }

  package var bag: DisposeBag { disposeBag }

  @usableFromInline
  package var node: ValueNode<Value> { self }
}
