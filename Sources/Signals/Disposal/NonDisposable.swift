/// Ends nothing.
@usableFromInline
package struct NonDisposable: Disposable, Sendable {
  /// The only one there needs to be.
  @usableFromInline
  package static let instance = NonDisposable()

  @usableFromInline
  package var isDisposed: Bool { false }

  @usableFromInline
  package func dispose() {}
}

/// What has ended already.
@usableFromInline
struct EndedDisposable: Disposable {
  @inlinable
  init() {}

  @usableFromInline
  var isDisposed: Bool { true }

  @usableFromInline
  func dispose() {}
}
