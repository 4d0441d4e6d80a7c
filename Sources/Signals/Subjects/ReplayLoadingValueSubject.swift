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

  @usableFromInline
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

  @usableFromInline
  override func replay(to observer: Observer<Element, Failure>) {
    if last.isEmpty, isLoading { observer(.next(.loading)) }
    for state in last { observer(.next(state)) }
  }
}
