/// An object that another thread uses while its owner keeps it alive and does not touch it.
struct Borrowed<Value: AnyObject>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
