/// A subject that replays the last element and the terminal event to each new observer.
public final class ReplayOneSubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  private var last: Element?

  public override init() {
    super.init()
  }

  @usableFromInline
  override func willSend(_ event: Event) {
    if case .next(let element) = event { last = element }
  }

  @usableFromInline
  override func replay(to observer: Observer<Element, Error>) {
    if let last { observer(.next(last)) }
  }
}
