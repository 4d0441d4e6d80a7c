/// A subject that replays nothing to later observers, except the terminal event.
public final class PassthroughSubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  @inlinable
  public override init() {
    super.init()
  }
}
