extension Subject {
  @inlinable
  func deliver(_ event: Event, to audience: Int) {
    var i = 0
    while i < audience {
      // Each time anew: the array may grow during the call, and whoever left is `nil`.
      if let observer = entries[i].observer { observer(event) }
      i += 1
    }
  }

  /// Delivers what was sent meanwhile, and takes away the entries of those who left.
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

  /// Tells of the end in a `deinit`, where nobody may come back to the subject.
  @usableFromInline
  func completeInDeinit() {
    guard !isTerminated else { return }
    isTerminated = true
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
    // Last, because what the observer held may end with it and come back here.
    withExtendedLifetime(observer) {}
  }

  /// Whoever was observed to the end lets go of what it held.
  @usableFromInline
  func removeAll() {
    guard !entries.isEmpty else { return }
    let ended = entries
    entries = []
    gaps = 0
    for entry in ended { entry.observation.end() }
    observersChanged()
  }

  /// Gaps at the end go at once, the others when they are the half: so leaving is O(1) on average.
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
