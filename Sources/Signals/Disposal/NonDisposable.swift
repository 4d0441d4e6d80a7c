/// A disposable that does nothing.
public struct NonDisposable: Disposable, Sendable {
  /// The shared instance.
  public static let instance = NonDisposable()

  public var isDisposed: Bool { false }

  public func dispose() {}
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
