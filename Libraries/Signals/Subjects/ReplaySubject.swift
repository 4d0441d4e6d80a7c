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

  override func willSend(_ event: Event) {
    guard case .next(let element) = event, bufferSize > 0 else { return }
    if last.count < bufferSize {
      last.append(element)
    } else {
      last[head] = element
      head = (head + 1) % bufferSize
    }
  }

  override func replay(to observer: Observer<Element, Error>) {
    let (last, head) = (last, head)  // the observer may send
    for i in last.indices { observer(.next(last[(head + i) % last.count])) }
  }
}

extension Int {
  /// A buffer size without a limit.
  public static var unbounded: Int { .max }
}

/// A subject that replays the last element and the terminal event to each new observer.
public final class ReplayOneSubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  private var last: Element?

  public override init() {
    super.init()
  }

  override func willSend(_ event: Event) {
    if case .next(let element) = event { last = element }
  }

  override func replay(to observer: Observer<Element, Error>) {
    if let last { observer(.next(last)) }
  }
}

/// A subject of loading states that replays the last values or the failure, and the terminal event.
///
/// Before the first value or failure it replays `loading`, if that was sent.
public final class ReplayLoadingValueSubject<Value, LoadingError: Error, Failure: Error>:
  Subject<LoadingState<Value, LoadingError>, Failure>
{
  /// The maximum number of values to replay.
  public let bufferSize: Int
  private var isLoading = false
  private var last: [Element] = []

  /// Creates a subject that replays up to `bufferSize` values; ``Swift/Int/unbounded`` replays all.
  public init(bufferSize: Int = 1) {
    self.bufferSize = bufferSize
    super.init()
  }

  override func willSend(_ event: Event) {
    guard case .next(let state) = event else { return }
    switch state {
    case .loading: isLoading = true
    case .loaded:
      if last.first?.error != nil { last = [] }
      last.append(state)
      if last.count > bufferSize { last.removeFirst() }
    case .failed: last = [state]
    }
  }

  override func replay(to observer: Observer<Element, Failure>) {
    if last.isEmpty, isLoading { observer(.next(.loading)) }
    for state in last { observer(.next(state)) }
  }
}

/// A subject that never fails.
public typealias SafePassthroughSubject<Element> = PassthroughSubject<Element, Never>

/// A replaying subject that never fails.
public typealias SafeReplaySubject<Element> = ReplaySubject<Element, Never>

/// A subject that replays one element and never fails.
public typealias SafeReplayOneSubject<Element> = ReplayOneSubject<Element, Never>

extension DisposeBag {
  /// Completes when the bag is deallocated.
  public var deallocated: SafeSignal<Void> {
    let report = deallocation as? Deallocation ?? Deallocation()
    deallocation = report
    return report.subject.toSignal()
  }
}

private final class Deallocation: DeallocationReport {
  let subject = ReplayOneSubject<Void, Never>()

  func complete() { subject.on(.completed) }
}
