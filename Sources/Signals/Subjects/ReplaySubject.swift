/// A subject that tells a newcomer the last elements, and the end.
package final class ReplaySubject<Element, Error: Swift.Error>: Subject<Element, Error> {
  /// How many elements are told at most.
  package let bufferSize: Int
  private var last: ContiguousArray<Element> = []
  /// Where the oldest is, when the buffer is full and goes round.
  private var head = 0

  /// A subject that keeps so many elements; ``Swift/Int/unbounded`` for all.
  package init(bufferSize: Int = 1) {
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
  /// No limit, where one is asked for.
  package static var unbounded: Int { .max }
}
