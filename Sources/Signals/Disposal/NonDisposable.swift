/// A disposable that does nothing.
@usableFromInline
package struct NonDisposable: Disposable, Sendable {
  /// The shared instance.
  @usableFromInline
  package static let instance = NonDisposable()

  @usableFromInline
  package var isDisposed: Bool { false }

  @usableFromInline
  package func dispose() {}
}

/// A disposable of an observation that has already ended.
@usableFromInline
struct EndedDisposable: Disposable {
  @inlinable
  init() {}

  @usableFromInline
  var isDisposed: Bool { true }

  @usableFromInline
  func dispose() {}
}
