/// A subject that replays nothing to later observers, except the terminal event.
@usableFromInline
package final class PassthroughSubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  @inlinable
  package override init() {
    super.init()
  }
}
