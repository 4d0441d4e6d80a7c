/// A subject that keeps nothing for those who come later, except the end.
@usableFromInline
package final class PassthroughSubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  @inlinable
  package override init() {
    super.init()
  }
}
