/// The error of an end that does not exist at the moment: the value is dropped without a failure.
public struct BindEndIsMissing: Error {
  public init() {}
}
