/// What ends one observation of a subject.
///
/// It is not generic, so that ending one through `any Disposable` runs code made for the type of
/// the subject: `leave` was made where that type was known, and captures nothing.
@usableFromInline
final class Observation: Disposable {
  /// `nil` after the end.
  ///
  /// A subject takes itself away before it goes.
  @usableFromInline
  unowned var source: ObservedSource?
  /// Where the subject has its observer.
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

  /// Says that the subject has ended or goes.
  @usableFromInline
  func end() {
    isLive = false
    source = nil
  }
}
