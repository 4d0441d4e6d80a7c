/// One end of a binding: a value that is somewhere, however it is kept there.
package struct BindEnd<Value> {
  /// The newest value, which is the one that was written last even if nobody was told of it yet;
  /// `nil` when there is none.
  package let read: () -> Value?
  /// Sets the value, or throws why it does not, ``BindEndIsMissing`` to say nothing of it; `nil` when
  /// the end is only read.
  package let write: ((Value) throws -> Void)?
  /// The present value at once, if there is one, then each later one.
  ///
  /// It completes when the end goes. `nil` when the end is only written.
  package let values: SafeSignal<Value>?
  /// Completes when the end goes; `nil` when nothing tells.
  package let gone: SafeSignal<Void>?
  /// Whether it has gone, which may be known sooner than it is told.
  package let isGone: () -> Bool

  package init(
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
  /// An end that takes each value and keeps none.
  package static var nowhere: BindEnd { BindEnd(write: { _ in }) }

  /// The same for values whose types are known only when they come.
  package var erased: BindEnd<Any> {
    BindEnd<Any>(
      read: { [read] in read() },
      write: write.map { write in { try write(cast($0, to: Value.self)) } },
      values: values?.map { $0 as Any }, gone: gone, isGone: isGone)
  }
}
