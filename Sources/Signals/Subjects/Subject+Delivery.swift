public import Facts

extension Subject {
  @inlinable
  func deliver(_ event: Event, to audience: Int) {
    var i = 0
    while i < audience {
      // Read the entry each time: a call may grow the array or set observers to `nil`.
      if let observer = entries[i].observer { observer(event) }
      i += 1
    }
  }

  /// Delivers the events sent in the meantime, and removes the entries of disposed observers.
  @inlinable
  func endDelivery() {
    if !waiting.isEmpty { deliverWaiting() }
    isDelivering = false
    if isTerminated { removeAll() } else if gaps > 0 { closeGaps() }
  }

  @usableFromInline
  func deliverWaiting() {
    var count = 0
    while let (event, audience) = waiting.popFirst() {
      count += 1
      precondition(count < 200_000, "an observer of \(Self.self) answers itself without end")
      deliver(event, to: audience)
    }
  }

  /// Completes the observers from `deinit`, when no observer may call back to the subject.
  @usableFromInline
  func completeInDeinit() {
    guard !isTerminated else { return }
    hasEnded = true
    for entry in entries { entry.observation.source = nil }
    for entry in entries where entry.observation.isLive { entry.observer?(.completed) }
  }

  @usableFromInline
  func observeEnded(with observer: Observer<Element, Error>) -> any Disposable {
    replay(to: observer)
    if let terminal { observer(terminal) }
    return EndedDisposable()
  }

  @inlinable
  func remove(at index: Int) {
    let observer = entries[index].observer
    entries[index].observer = nil
    gaps += 1
    if !isDelivering { closeGaps() }
    observersChanged()
    // Release the observer last: objects that it retained may be deallocated here and call back.
    withExtendedLifetime(observer) {}
  }

  /// Releases all observers after the terminal event.
  @usableFromInline
  func removeAll() {
    guard !entries.isEmpty else { return }
    let ended = entries
    entries = []
    gaps = 0
    for entry in ended { entry.observation.end() }
    observersChanged()
  }

  /// Removes gaps at the end at once, and the others when they make up half of the entries.
  ///
  /// Disposal is therefore amortized O(1).
  @inlinable
  func closeGaps() {
    while let last = entries.last, last.observer == nil {
      entries.removeLast()
      gaps -= 1
    }
    if gaps > 0, gaps >= entries.count / 2 { compact() }
  }

  @usableFromInline
  func compact() {
    entries.removeAll { $0.observer == nil }
    gaps = 0
    for i in entries.indices { entries[i].observation.index = i }
  }
}
