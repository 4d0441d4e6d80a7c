/// Returns whether two values are equal; `nil` if values of their type cannot be compared.
///
/// Objects that are not `Equatable` are compared by identity.
func areSame(_ a: Any, _ b: Any) -> Bool? {
  if let a = a as? any Equatable { return isEqual(a, b) }
  // The cast to `AnyObject` would box each value that is not an object in a new object.
  guard type(of: a) is AnyObject.Type, type(of: b) is AnyObject.Type else { return nil }
  return a as AnyObject === b as AnyObject
}

private func isEqual<Value: Equatable>(_ a: Value, _ b: Any) -> Bool {
  (b as? Value).map { $0 == a } ?? false
}
