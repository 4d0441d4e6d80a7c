/// A subject of loading states that tells a newcomer the last values or the failure, and the end.
///
/// Until the first of them it tells that it is loading, if it is.
package final class ReplayLoadingValueSubject<Value, LoadingError: Error, Failure: Error>:
  Subject<LoadingState<Value, LoadingError>, Failure>
{
  /// How many values are told at most.
  package let bufferSize: Int
  private var isLoading = false
  private var last: [Element] = []

  /// A subject that keeps so many values; ``Swift/Int/unbounded`` for all.
  package init(bufferSize: Int = 1) {
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
