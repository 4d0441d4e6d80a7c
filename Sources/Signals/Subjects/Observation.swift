/// The disposable of one observation of a subject.
///
/// It is not generic, so that disposing it through `any Disposable` runs code specialized for the
/// subject. `leave` is created where that type is known, and captures nothing.
@usableFromInline
final class Observation: Disposable {
  /// The subject, or `nil` after the end.
  ///
  /// A subject clears this before it is deallocated.
  @usableFromInline
  unowned var source: ObservedSource?
  /// The index of the observer in the subject's entries.
  @usableFromInline
  var index: Int
  @usableFromInline
  var isLive = true
  @usableFromInline
  let leave: (ObservedSource, Int) -> Void
  @usableFromInline
  let live = LiveNode("Observation")

  @inlinable
  init(
    of source: ObservedSource, at index: Int, leave: @escaping (ObservedSource, Int) -> Void
  ) {
    self.source = source
    self.index = index
    self.leave = leave
  }

  @usableFromInline
  var isDisposed: Bool { !isLive }

  @usableFromInline
  func dispose() {
    guard isLive else { return }
    isLive = false
    guard let source else { return }
    self.source = nil
    leave(source, index)
  }

  /// Marks the observation as ended, because the subject has ended or is being deallocated.
  @usableFromInline
  func end() {
    isLive = false
    source = nil
  }
}
