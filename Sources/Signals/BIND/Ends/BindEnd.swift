/// One end of a binding: access to a value, however it is stored.
public struct BindEnd<Value> {
  /// Returns the value that was written last, even if observers have not received it yet; `nil` if
  /// there is none.
  public let read: () -> Value?
  /// Sets the value; `nil` for a read-only end.
  ///
  /// It throws if it refuses the value. ``BindEndIsMissing`` means that the value is dropped
  /// without a failure.
  public let write: ((Value) throws -> Void)?
  /// Emits the current value at once, if there is one, then each later one.
  ///
  /// It completes when the end goes away; `nil` for a write-only end.
  public let values: SafeSignal<Value>?
  /// Completes when the end goes away; `nil` if this cannot be observed.
  public let gone: SafeSignal<Void>?
  /// Returns whether the end is gone.
  ///
  /// This can be true before ``gone`` completes.
  public let isGone: () -> Bool

  public init(
    read: @escaping () -> Value? = { nil }, write: ((Value) throws -> Void)? = nil,
    values: SafeSignal<Value>? = nil, gone: SafeSignal<Void>? = nil,
    isGone: @escaping () -> Bool = { false }
  ) {
    self.read = read
    self.write = write
    self.values = values
    self.gone = gone
    self.isGone = isGone
  }
}

extension BindEnd {
  /// An end that discards each value.
  public static var nowhere: BindEnd { BindEnd(write: { _ in }) }

  /// The same end for values of dynamic type.
  public var erased: BindEnd<Any> {
    BindEnd<Any>(
      read: { [read] in read() },
      write: write.map { write in { try write(cast($0, to: Value.self)) } },
      values: values?.map { $0 as Any }, gone: gone, isGone: isGone)
  }
}
