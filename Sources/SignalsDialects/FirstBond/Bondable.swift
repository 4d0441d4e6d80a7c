/// An object with a default bond, for example the text of a label.
public protocol Bondable {
  associatedtype BondType

  /// The default bond.
  var designatedBond: Bond<BondType> { get }
}

/// An object with a default value to follow, for example the text of a field.
public protocol Dynamical {
  associatedtype DynamicType

  /// The default value.
  var designatedDynamic: Dynamic<DynamicType> { get }
}
