/// A subject that replays the last elements and the terminal event to each new observer.
public final class ReplaySubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  /// The maximum number of elements to replay.
  public let bufferSize: Int
  private var last: ContiguousArray<Element> = []
  /// The index of the oldest element once the ring buffer is full.
  private var head = 0

  /// Creates a subject that replays up to `bufferSize` elements; ``Swift/Int/unbounded`` replays
  /// all.
  public init(bufferSize: Int = 1) {
    self.bufferSize = max(0, bufferSize)
    super.init()
  }

  @usableFromInline
  override func willSend(_ event: Event) {
    guard case .next(let element) = event, bufferSize > 0 else { return }
    if last.count < bufferSize {
      last.append(element)
    } else {
      last[head] = element
      head = (head + 1) % bufferSize
    }
  }

  @usableFromInline
  override func replay(to observer: Observer<Element, Error>) {
    let (last, head) = (last, head)  // the observer may send
    for i in last.indices { observer(.next(last[(head + i) % last.count])) }
  }
}

extension Int {
  /// A buffer size without a limit.
  public static var unbounded: Int { .max }
}
