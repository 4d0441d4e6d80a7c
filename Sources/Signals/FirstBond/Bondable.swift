/// What has one bond that is meant when none is said: the text of a label.
package protocol Bondable {
  associatedtype BondType

  /// The bond.
  var designatedBond: Bond<BondType> { get }
}

/// What has one value that is meant when none is said: the text of a field.
package protocol Dynamical {
  associatedtype DynamicType

  /// The value.
  var designatedDynamic: Dynamic<DynamicType> { get }
}
